import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { outageContract } from '../src/outage-contract.ts';
import { EXPECTATIONS, testAdapter } from './broken-copies.ts';

/** The result of a test in the JSON report. */
interface Result {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped';
}

describe('the contract', () => {
  let results: readonly Result[];

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-contract-'));
    try {
      results = await resultsOf(join(folder, 'results.json'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each(Object.entries(EXPECTATIONS))('fails if %s', (bug, { fails }) => {
    const ofBug = results.filter(({ ancestorTitles }) => ancestorTitles[0] === bug);
    expect(ofBug.filter(({ status }) => status === 'failed').map(({ title }) => title)).toEqual(fails);
    expect(ofBug.filter(({ status }) => status === 'passed').length).toBeGreaterThan(0);
  });
});

test('the contract of outages needs one of them', () => {
  expect(() => outageContract(testAdapter(), {})).toThrow("outages is empty: name one, or write 'not tested'");
});

/** Runs the parts of the contract on the broken copies, in a process of their own: their failures are expected. */
async function resultsOf(file: string): Promise<readonly Result[]> {
  const vitest = join(dirname(fileURLToPath(import.meta.resolve('vitest/package.json'))), 'vitest.mjs');
  const root = join(import.meta.dirname, 'broken');
  const options = [`--root=${root}`, `--config=${root}/vitest.config.ts`, '--reporter=json', `--outputFile=${file}`];
  await once(spawn(process.execPath, [vitest, 'run', ...options], { stdio: 'ignore' }), 'close');
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: { assertionResults: Result[] }[] };
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}
