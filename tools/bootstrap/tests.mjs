import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, exitCodeOf, interrupted, runProgram } from './programs.mjs';

const RELEASE_TESTS = `
Not run: the tests of a release (the image and its deployment, packed packages on other runtimes, generated clients, the
documentation page in a browser, proxies). ALL_TESTS=on npm test runs them, too; with ALL_TESTS=required a tool that is not
installed is a failure. ALL_TESTS=nightly adds the longest: see tools/README.md.`;

/**
 * Runs Vitest. The tests of a release run only if ALL_TESTS is set, or if arguments may select them.
 *
 * @param args Its arguments.
 * @returns The numbers of tests by result, and whether the arguments select none that ran.
 */
export async function runTests(args) {
  const { ALL_TESTS = args.length > 0 ? 'on' : '' } = process.env;
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-tests-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const report = join(folder, 'report.json');
  const seconds = join(import.meta.dirname, 'seconds.mjs');
  const reporters = ['default', 'json', seconds].map((name) => `--reporter=${name}`);
  const options = [...reporters, `--outputFile.json=${report}`, '--passWithNoTests'];
  const result = await runProgram([bin('vitest'), 'run', ...options, ...args], { env: { ALL_TESTS } });
  if (interrupted()) process.exit(exitCodeOf(result) || 1);
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0, testResults } = read(report);
  if (!ALL_TESTS) console.log(RELEASE_TESTS);
  // By --passWithNoTests the code tells this from an error before the first test.
  const hasNoFile = result.code === 0 && testResults?.length === 0;
  // Vitest skips the tests whose titles do not match.
  const hasNoTitle = args.some((arg) => /^(-t|--testNamePattern)/.test(arg)) && numPassedTests + numFailedTests === 0;
  return {
    passed: numPassedTests,
    // A file that can't be imported and an error outside of tests have no failed test.
    failed: numFailedTests || (result.code === 0 ? 0 : 1),
    skipped: numPendingTests + numTodoTests,
    isEmpty: hasNoFile || (hasNoTitle && result.code === 0),
  };
}

/** The report of Vitest; empty if it ended before it had written all of it. */
function read(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return {};
  }
}
