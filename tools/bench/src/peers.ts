import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Contender, program } from './server.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));

/** The command that starts an application of a checkout of this repository, which has its dependencies installed. */
export const application = (name: 'http' | 'cli', checkout: string = ROOT): readonly string[] => [
  process.execPath,
  '--conditions=@animal-store/source',
  `${checkout}/apps/${name}/src/main.ts`,
];

export const animalStore: Contender = program('Animal Store', application('http'));

/** A server of peers/src. */
export function peer(name: string, file: string, environment: NodeJS.ProcessEnv = {}): Contender {
  return program(name, [process.execPath, `${PEERS}dist/${file}.js`], { environment });
}

/**
 * Installs and compiles the servers of peers/src. They have a lockfile of their own, because only the benchmark needs their
 * dependencies.
 */
export function preparePeers(): void {
  const { packageManager } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const install = ['pnpm', 'install', '--frozen-lockfile', '--trust-lockfile', '--prefer-offline', '--silent'];
  run('npx', '--yes', `--package=${packageManager}`, '--', ...install);
  run(`${ROOT}node_modules/.bin/tsc`);
}

function run(command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: PEERS, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`, { cause: error });
}
