import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Contender, program } from './server.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));

/** The service of a checkout of this repository, which has its dependencies installed. */
export const serviceOf = (name: string, checkout: string): Contender =>
  program(name, [process.execPath, '--conditions=@animal-store/source', `${checkout}/apps/http/src/main.ts`]);

export const animalStore: Contender = serviceOf('Animal Store', ROOT);

/** The server of peers/src. */
export function peer(name: string, environment: NodeJS.ProcessEnv = {}): Contender {
  return program(name, [process.execPath, `${PEERS}dist/fastify.js`], { environment });
}

/**
 * Installs and compiles the server of peers/src. It has a lockfile of its own, because only the benchmark needs its
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
