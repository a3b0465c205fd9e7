import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@animal-store/test-kit/programs';
import { expect } from 'vitest';

/**
 * Runs a test file that applies the contract to an adapter. Every test must run and pass.
 *
 * @param consumer The folder of a project that depends on the packed packages.
 * @param name Of the file, without extension.
 */
export async function expectContractToPass(consumer: string, name: string, tests: string, node = process.execPath) {
  writeFileSync(join(consumer, `${name}.test.js`), tests);
  const vitest = join(consumer, 'node_modules/vitest/vitest.mjs');
  // The places of the storages go with the project.
  const env = { ...process.env, TMPDIR: consumer };
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${name}.json`];
  await run(node, [vitest, 'run', ...reporters, name], { cwd: consumer, env });
  const { success, numPassedTests, numTotalTests } = JSON.parse(readFileSync(join(consumer, `${name}.json`), 'utf8'));
  expect(success).toBe(true);
  expect(numPassedTests).toBeGreaterThanOrEqual(25);
  expect(numTotalTests).toBe(numPassedTests);
}
