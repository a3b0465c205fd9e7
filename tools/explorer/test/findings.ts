import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Finding } from '../src/trial.ts';

/** Runs the program of scenarios, and returns its findings in the order of its trials. Throws an Error if it fails. */
export async function findingsOf(program: URL, ...words: string[]): Promise<readonly Finding[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@animal-store/source', fileURLToPath(program), ...words],
    { maxBuffer: 2 ** 24 },
  );
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
}
