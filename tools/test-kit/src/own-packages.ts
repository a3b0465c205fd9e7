import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');

/** The pinned pnpm, as command and first arguments. */
export const PNPM: readonly [string, ...string[]] = ['npx', '--yes', JSON.parse(manifest).packageManager];

/** Installs the packages of a folder that has a lockfile of its own, because nothing else needs them. */
export function installOwnPackages(folder: string): void {
  const read = (file: string) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : null);
  if (read('pnpm-lock.yaml') === read('node_modules/.pnpm/lock.yaml')) return;
  const [command, ...pnpm] = PNPM;
  const options = ['--frozen-lockfile', '--trust-lockfile', '--prefer-offline', '--silent'];
  execFileSync(command, [...pnpm, 'install', ...options], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
}
