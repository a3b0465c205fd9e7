import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));

/**
 * Installs and compiles the servers in peers/. They have a lockfile of their own: what they need is large, and only the
 * benchmark needs it.
 */
export function preparePeers(): void {
  if (read('pnpm-lock.yaml') !== read('node_modules/.pnpm/lock.yaml')) {
    console.error('bench: installing the peers…');
    const { packageManager } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    const install = ['pnpm', 'install', '--frozen-lockfile', '--trust-lockfile', '--prefer-offline', '--silent'];
    run('npx', '--yes', `--package=${packageManager}`, '--', ...install);
  }
  run(`${ROOT}node_modules/.bin/tsc`);
}

/**
 * The command that starts a peer.
 *
 * @param name Its file in peers/src, without extension.
 */
export function peer(name: string): readonly string[] {
  return [process.execPath, `${PEERS}dist/${name}.js`];
}

/** The command that starts the Animal Store of a checkout of this repository, which has its dependencies installed. */
export function animalStore(checkout: string = ROOT): readonly string[] {
  return application('http', checkout);
}

/** The command line of the Animal Store. */
export function animalStoreCli(): readonly string[] {
  return application('cli', ROOT);
}

function application(name: string, checkout: string): readonly string[] {
  // Older checkouts have another name for the condition.
  const { compilerOptions } = JSON.parse(readFileSync(`${checkout}/tsconfig.base.json`, 'utf8'));
  const conditions = compilerOptions.customConditions.map((condition: string) => `--conditions=${condition}`);
  return [process.execPath, ...conditions, `${checkout}/apps/${name}/src/main.ts`];
}

/** What the README tells people to type. */
export function npmStart(): readonly string[] {
  return ['npm', '--prefix', ROOT, 'start'];
}

function run(command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: PEERS, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`, { cause: error });
}

/** A file of peers/, or null if there is none. */
function read(file: string): string | null {
  try {
    return readFileSync(PEERS + file, 'utf8');
  } catch {
    return null;
  }
}
