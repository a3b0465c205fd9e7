import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNPM, run } from './packages.ts';

const FOLDER = join(import.meta.dirname, '../runtimes');

export interface Runtime {
  readonly name: string;
  /** Command and first arguments, before a file. */
  readonly command: readonly [string, ...string[]];
  /** The version of Node.js; absent for others. */
  readonly node?: string;
}

/** The oldest Node.js of each range in the packages' `engines`, and what else runs those that need no part of Node.js. */
export const RUNTIMES: readonly Runtime[] = [
  ...['20.19.0', '22.12.0', '24.15.0'].map((node): Runtime => {
    const [major] = node.split('.');
    return { name: `Node.js ${node}`, command: [installed(`node-${major}/bin/node`)], node };
  }),
  { name: 'Bun', command: [installed('@oven/bun-linux-x64/bin/bun')] },
  // It asks for no permission.
  { name: 'Deno', command: [installed('@deno/linux-x64-glibc/deno'), 'run', '--no-prompt'] },
];

/** Installs the runtimes. They have a lockfile of their own, because they are large and nothing else needs them. */
export function installRuntimes(): void {
  if (read('pnpm-lock.yaml') === read('node_modules/.pnpm/lock.yaml')) return;
  const [command, ...pnpm] = PNPM;
  run(command, [...pnpm, 'install', '--frozen-lockfile', '--trust-lockfile', '--prefer-offline', '--silent'], FOLDER);
}

/** The runtimes that this platform lacks. */
export const missingRuntimes = (): readonly Runtime[] => RUNTIMES.filter(({ command: [path] }) => !existsSync(path));

function installed(path: string): string {
  return join(FOLDER, 'node_modules', path);
}

/** The text of a file of runtimes/, or null if there is none. */
function read(file: string): string | null {
  const path = join(FOLDER, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
