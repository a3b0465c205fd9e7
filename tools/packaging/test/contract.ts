import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { run } from './packages.ts';

/**
 * Runs a test file that applies the contract to an adapter. Every test must run and pass.
 *
 * @param consumer The folder of a project that depends on the packed packages.
 * @param name Of the file, without extension.
 */
export function expectContractToPass(consumer: string, name: string, tests: string, node = process.execPath): void {
  writeFileSync(join(consumer, `${name}.test.js`), tests);
  const vitest = join(consumer, 'node_modules/vitest/vitest.mjs');
  // The places of the storages go with the project.
  const environment = { ...process.env, TMPDIR: consumer };
  run(
    node,
    [vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile=${name}.json`, name],
    consumer,
    environment,
  );
  const { success, numPassedTests, numTotalTests } = JSON.parse(readFileSync(join(consumer, `${name}.json`), 'utf8'));
  expect(success).toBe(true);
  expect(numPassedTests).toBeGreaterThanOrEqual(35);
  expect(numTotalTests).toBe(numPassedTests);
}
