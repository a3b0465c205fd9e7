import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The result of a test in the JSON report. */
export interface Result {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly failureMessages?: readonly string[];
}

/** Runs the contract on the copies, in processes of their own, because failures are expected. See copies.ts for the variables. */
export async function resultsOf(variables: { COPIES?: string; CHECKS?: 'all' }): Promise<readonly Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-contract-'));
  try {
    const file = join(folder, 'results.json');
    const vitest = join(dirname(fileURLToPath(import.meta.resolve('vitest/package.json'))), 'vitest.mjs');
    const root = import.meta.dirname;
    // Each of the other processes strips the types of the same sources.
    const env = { ...process.env, ...variables, NODE_COMPILE_CACHE: join(folder, 'cache') };
    const options = [`--root=${root}`, `--config=${root}/vitest.config.ts`, '--reporter=json', `--outputFile=${file}`];
    await once(spawn(process.execPath, [vitest, 'run', ...options], { stdio: 'ignore', env }), 'close');
    const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: { assertionResults: Result[] }[] };
    return testResults.flatMap(({ assertionResults }) => assertionResults);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
