import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freshDatabaseFile } from '@animal-store/test-kit/fresh-folder';
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
  // The places of the storages are in memory, and go with the running test.
  const env = { ...process.env, TMPDIR: dirname(freshDatabaseFile()) };
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${name}.json`];
  await run(node, [vitest, 'run', ...reporters, name], { cwd: consumer, env });
  const report = JSON.parse(readFileSync(join(consumer, `${name}.json`), 'utf8'));
  expect(report.success).toBe(true);
  expect(report.numTotalTests).toBe(report.numPassedTests);
  const readme = readFileSync(join(consumer, 'node_modules/@animal-store/adapter-contract/README.md'), 'utf8');
  const [, kinds = ''] = /kinds of checks: ([^.]*)\./.exec(readme) ?? [];
  const checks: { ancestorTitles: string[] }[] = report.testResults[0].assertionResults;
  // An adapter may have no interruptions; none here has another process.
  expect(checks.flatMap(({ ancestorTitles }) => ancestorTitles)).toEqual(
    expect.arrayContaining(
      kinds.split(/,\s+/).filter((kind) => !['interruptions', 'late writes', 'another process'].includes(kind)),
    ),
  );
}
