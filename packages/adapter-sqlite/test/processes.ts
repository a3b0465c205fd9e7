import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/**
 * Stands before each program. `storage` is the one on the file; `add` adds under a key and says so when it is acknowledged,
 * `addFrom` adds under several keys at once.
 */
const PROLOGUE = `
  import { createSqliteStorage } from './src/index.ts';

  const storage = createSqliteStorage({ file: process.env.SQLITE_FILE });
  const rex = { name: 'Rex', categoryId: 1n };
  async function add(key) {
    const { id } = await storage.pets.add(rex, { holder: 'the zoo', key: String(key), fingerprint: 'rex' });
    process.stdout.write(key + ' ' + id + '\\n');
  }
  async function addFrom(key, count) {
    await Promise.all(Array.from({ length: count }, (_, index) => add(key + index)));
  }
`;

/** A process on the file. */
export interface Running {
  readonly process: ChildProcess;
  /** When it has ended: the keys it said were acknowledged, each with its animal's id. */
  readonly acknowledged: Promise<ReadonlyMap<string, bigint>>;
  /** Waits until it has said something. */
  readonly underWay: Promise<void>;
}

/**
 * Starts a program in a process of its own; it is killed when the running test ends.
 *
 * @param largestFile No file may grow beyond that many blocks of 512 bytes: what a full disk is like.
 */
export function startProcess(file: string, program: string, largestFile = 'unlimited'): Running {
  // The signal would otherwise end the process, instead of the write with an error.
  const shell = `trap '' XFSZ; ulimit -f ${largestFile}; exec "$0" "$@"`;
  const node = [process.execPath, '--conditions=source', '--input-type=module', '--eval', PROLOGUE + program];
  const child = spawn('/bin/sh', ['-c', shell, ...node], {
    cwd: PACKAGE,
    env: { SQLITE_FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  return {
    process: child,
    underWay: new Promise((resolve) => child.stdout.once('data', () => resolve())),
    acknowledged: new Promise((resolve) => {
      child.on('close', () => {
        const lines = said.match(/^.+(?=\n)/gm) ?? [];
        resolve(new Map(lines.map((line) => line.split(' ')).map(([key = '', id = '']) => [key, BigInt(id)])));
      });
    }),
  };
}
