import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { behindProxy, storageContract } from '../src/index.ts';
import { openStorage } from './broken/adapter.ts';
import { BUGS } from './broken/bugs.ts';

/** The result of a test in the JSON report. */
interface Result {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly failureMessages?: readonly string[];
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

  const titlesOf = (bug: string, status: string) =>
    results.filter((result) => result.ancestorTitles[0] === bug && result.status === status).map(({ title }) => title);

  test('accepts an adapter without a bug, with the time limits that Vitest has if none are set', () => {
    expect(titlesOf('none', 'failed')).toEqual([]);
  });

  test.each(Object.keys(BUGS))('finds: %s', (bug) => {
    expect(titlesOf(bug, 'failed')).toEqual([BUGS[bug]?.foundBy]);
    const { failureMessages = [] } =
      results.find(({ ancestorTitles, status }) => ancestorTitles[0] === bug && status === 'failed') ?? {};
    expect(failureMessages.join()).toMatch(BUGS[bug]?.message ?? '');
  });
});

test('the contract needs an outage, or that none is tested', () => {
  const adapter = { freshPlace: () => 'zoo', open: openStorage, outages: {} };
  expect(() => storageContract('no outage', adapter)).toThrow("outages is empty: name one, or write 'not tested'");
});

test('a place behind a proxy needs a URL with a port', async () => {
  const { freshPlace } = behindProxy({ freshPlace: () => 'zoo', open: openStorage });
  const rule = 'freshPlace must return a URL with a port, so that a proxy can lead there: "zoo"';
  await expect(freshPlace()).rejects.toThrow(rule);
});

/** Runs the contract on the copies, in processes of their own: failures are expected. */
async function resultsOf(file: string): Promise<readonly Result[]> {
  const vitest = join(dirname(fileURLToPath(import.meta.resolve('vitest/package.json'))), 'vitest.mjs');
  const root = join(import.meta.dirname, 'broken');
  // Each of the other processes strips the types of the same sources.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(dirname(file), 'cache') };
  const options = [`--root=${root}`, `--config=${root}/vitest.config.ts`, '--reporter=json', `--outputFile=${file}`];
  await once(spawn(process.execPath, [vitest, 'run', ...options], { stdio: 'ignore', env }), 'close');
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: { assertionResults: Result[] }[] };
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}
