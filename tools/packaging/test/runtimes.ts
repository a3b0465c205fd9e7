import { join } from 'node:path';
import { installOwnPackages } from '@animal-store/test-kit/own-packages';
import { folderOf, readManifest } from './packages.ts';

const FOLDER = join(import.meta.dirname, '../runtimes');

export interface Runtime {
  readonly name: string;
  /** Command and first arguments, before a file. */
  readonly command: readonly [string, ...string[]];
  /** The version of Node.js; absent for others. */
  readonly node?: string;
}

/** Programs call a service of this machine, and read its variables. */
const DENO_PERMISSIONS = ['--allow-net=127.0.0.1', '--allow-env=BASE_URL,API_KEY'];

/** The oldest Node.js of each range in `engines`, and other runtimes for the packages that need no part of Node.js. */
export const RUNTIMES: readonly Runtime[] = [
  ...['20.19.0', '22.12.0', '24.16.0'].map((node): Runtime => {
    const [major] = node.split('.');
    return { name: `Node.js ${node}`, command: [installed(`node-${major}/bin/node`)], node };
  }),
  { name: 'Bun', command: [installed('@oven/bun-linux-x64/bin/bun')] },
  { name: 'Deno', command: [installed('@deno/linux-x64-glibc/deno'), 'run', '--no-prompt', ...DENO_PERMISSIONS] },
];

/** The packages that need no part of Node.js. */
const ANYWHERE: readonly string[] = ['domain', 'adapter-memory', 'exact-json', 'client'];

/** The oldest Node.js that a package supports: major and minor version, and patch if it is given. */
export const oldestNode = (name: string): string =>
  /\d[\d.]*/.exec(readManifest(folderOf(name)).engines.node)?.[0] as string;

/** @param name Of the package's folder. */
export function supports(name: string, { node }: Runtime): boolean {
  if (node === undefined) return ANYWHERE.includes(name);
  return node.localeCompare(oldestNode(name), 'en', { numeric: true }) >= 0;
}

/** Installs the runtimes, which are large. */
export const installRuntimes = (): void => installOwnPackages(FOLDER);

/** The path of a program or a folder that {@link installRuntimes} installs. */
export function installed(path: string): string {
  return join(FOLDER, 'node_modules', path);
}
