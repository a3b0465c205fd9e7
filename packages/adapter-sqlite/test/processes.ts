import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import { freshFile } from './fixtures.ts';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/**
 * The beginning of each program. `storage` is on the file; `add` creates a pet under a key and prints it when it is
 * acknowledged, `addFrom` does so for several keys at once, `addUntilStored` repeats it while the storage is unavailable.
 */
const PROLOGUE = `
  import { closeSync, openSync, writeSync } from 'node:fs';
  import { createSqliteStorage } from './src/index.ts';

  const storage = await createSqliteStorage({ file: process.env.SQLITE_FILE });
  while (await storage.ready().then(() => false, () => true));
  const rex = { name: 'Rex', categoryId: 1n };
  async function add(key) {
    const { pet } = await storage.pets.add(rex, { holder: 'the zoo', key: String(key), fingerprint: 'rex' });
    writeSync(1, key + ' ' + pet.id + '\\n');
  }
  async function addUntilStored(key) {
    for (;;) {
      try {
        return await add(key);
      } catch (error) {
        if (error.code !== 'storage_unavailable') throw error;
      }
    }
  }
  async function addFrom(key, count) {
    await Promise.all(Array.from({ length: count }, (_, index) => add(key + index)));
  }
`;

/**
 * Starts a program in a process of its own; it is killed when the running test ends.
 *
 * @param limit Options of `ulimit`. No file grows beyond `-f` blocks of 512 bytes, as on a full disk.
 */
export function startProcess(file: string, program: string, limit = '-f unlimited') {
  // The signal would otherwise end the process, instead of the write with an error.
  const shell = `trap '' XFSZ; ulimit ${limit}; exec "$0" "$@"`;
  const node = ['--conditions=@animal-store/source', '--input-type=module', '--eval', PROLOGUE + program];
  // A file, because what was written to it outlives the process.
  const outputFile = join(dirname(freshFile()), 'output');
  const output = openSync(outputFile, 'w');
  const child = spawn('/bin/sh', ['-c', shell, process.execPath, ...node], {
    cwd: PACKAGE,
    env: { SQLITE_FILE: file },
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.on('close', resolve));
  const lines = () => [...readFileSync(outputFile, 'utf8').matchAll(/^(.+) (\d+)\n/gm)];
  return {
    process: child,

    /** Waits until it has acknowledged so many keys. Fails as soon as it ends before. */
    async underWay(keys: number): Promise<void> {
      const isUnderWay = () => {
        if (lines().length >= keys) return true;
        if (child.exitCode === null && child.signalCode === null) return false;
        throw new Error(`the process ended with code ${child.exitCode} after ${lines().length} keys`);
      };
      await vi.waitUntil(isUnderWay, { timeout: 60_000 });
    },

    /** Waits for its end, and returns the acknowledged keys, each with the id of its pet. */
    async acknowledged(): Promise<ReadonlyMap<string, bigint>> {
      await ended;
      return new Map(lines().map(([, key, id]) => [key as string, BigInt(id as string)]));
    },
  };
}
