import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNPM } from '@animal-store/test-kit/own-packages';
import { ROOT, run } from '@animal-store/test-kit/programs';

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly exports: Record<string, Record<string, string>>;
  readonly publishConfig: { readonly exports: Record<string, Record<string, string>> };
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

export const folderOf = (name: string): string => join(ROOT, 'packages', name);

/** The names of the folders of published packages. */
export const PACKAGES: readonly string[] = readdirSync(join(ROOT, 'packages'))
  // A folder that another branch left behind has no manifest.
  .filter((name) => existsSync(join(folderOf(name), 'package.json')) && !readManifest(folderOf(name)).private);

/** The file name of a packed package. */
export const tarball = (name: string): string => `animal-store-${name}-${readManifest(folderOf(name)).version}.tgz`;

/** The npm packages that a package needs at run time. */
export function libraries({ dependencies, peerDependencies }: Manifest): string[] {
  return Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !name.startsWith('@animal-store/'));
}

/** Packs every published package. */
export async function packAll(to: string): Promise<void> {
  const [command, ...pnpm] = PNPM;
  const filters = PACKAGES.map((name) => `--filter=./packages/${name}`);
  await run(command, [...pnpm, '--recursive', ...filters, 'pack', '--pack-destination', to], { cwd: ROOT });
}

export const readmeOf = (name: string): string => readFileSync(join(folderOf(name), 'README.md'), 'utf8');

/** The code blocks of a package's README, which build on each other, as one program. */
export function programOf(name: string): string {
  return [...readmeOf(name).matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code).join('\n');
}

/** The output that the comments behind `console.log` promise. Throws an Error if one has no comment. */
export function promisedOutput(program: string): string[] {
  const promised = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line as string);
  if (promised.length === program.match(/console\.log/g)?.length) return promised;
  throw new Error(`each console.log of a README has a comment with its output:\n${program}`);
}

/** The packages that a program imports. */
export const packagesOf = (program: string): string[] =>
  [...program.matchAll(/from '@animal-store\/([a-z-]+)/g)].map(([, name]) => name as string);
