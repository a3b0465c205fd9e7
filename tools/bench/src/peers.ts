import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installOwnPackages } from '@animal-store/test-kit/own-packages';
import { ROOT } from '@animal-store/test-kit/programs';
import { type Contender, program } from './server.ts';

const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));

/** The service of a checkout of this repository, which has its dependencies installed. */
export const serviceOf = (name: string, checkout: string): Contender =>
  program(name, [process.execPath, '--conditions=@animal-store/source', `${checkout}/apps/http/src/main.ts`]);

export const animalStore: Contender = serviceOf('Animal Store', ROOT);

/** The server of peers/src. */
export function peer(name: string, environment: NodeJS.ProcessEnv = {}): Contender {
  return program(name, [process.execPath, `${PEERS}dist/fastify.js`], { environment });
}

/** Installs and compiles the server of peers/src. */
export function preparePeers(): void {
  installOwnPackages(PEERS);
  execFileSync(`${ROOT}node_modules/.bin/tsc`, { cwd: PEERS, stdio: ['ignore', 'inherit', 'inherit'] });
}
