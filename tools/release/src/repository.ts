import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../../..', import.meta.url));

/** The text of a file. @param path Relative to the root of the repository. */
export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Paths relative to the root of the repository, sorted. */
export const find = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).sort();

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly exports: Record<string, Record<string, string>>;
}

/** The published packages, by folder relative to the root. */
export const PACKAGES: ReadonlyMap<string, Manifest> = new Map(
  find('packages/*/package.json')
    .map((path): [string, Manifest] => [dirname(path), JSON.parse(read(path))])
    .filter(([, manifest]) => !manifest.private),
);

/** Runs a program to its end. @returns Its standard output. @throws Error with its output if it fails. */
export function run([command, ...args]: readonly [string, ...string[]], cwd: string = ROOT): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} failed:\n${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`);
}
