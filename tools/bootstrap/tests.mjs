import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, environment, exitCodeOf, interrupted, runProgram } from './programs.mjs';
import { tally } from './tally.mjs';

const RELEASE_TESTS = `
Not run: the tests of a release (the image and its deployment, packed packages on other runtimes, generated clients, the
documentation page in a browser, proxies, the largest models).
ALL_TESTS=on npm test runs them, too; with ALL_TESTS=required a tool that is not installed is a failure.`;

/**
 * Runs Vitest. The tests of a release run only if ALL_TESTS is set, or if arguments may select them.
 *
 * @param args Its arguments.
 */
export async function runTests(args) {
  const env = environment();
  if (args.length > 0) env.ALL_TESTS ??= 'on';
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-tests-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const result = await runProgram([bin('vitest'), 'run', ...reporters, ...args], { env });
    if (interrupted()) process.exit(exitCodeOf(result) || 1);
    if (!env.ALL_TESTS) console.log(RELEASE_TESTS);
    return count(report, result.code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function count(report, code) {
  const counts = readCounts(report);
  if (code === 0 || counts.failed > 0) return tally(counts);
  // An error outside of tests, a crash, or arguments that select nothing: Vitest counts no failed test.
  console.log(`\n✗ Vitest failed without a failed test (${code === null ? 'it was killed' : `exit code ${code}`})`);
  return tally({ ...counts, failed: 1 });
}

function readCounts(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    // A file that fails before its first test, for example in an import, has no failed test.
    const broken = testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
    );
    return {
      passed: numPassedTests,
      failed: numFailedTests + broken.length,
      skipped: numPendingTests + numTodoTests,
    };
  } catch {
    // Vitest ended before it could write the report.
    return { passed: 0, failed: 0, skipped: 0 };
  }
}
