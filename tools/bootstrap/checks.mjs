import { bin, exitCodeOf, interrupted, pnpm, runProgram } from './programs.mjs';

/** The slowest check is first. */
const checks = {
  build: () => pnpm('turbo', 'run', 'build', '--output-logs=errors-only'),
  'lint and format': () => [bin('biome'), 'check', '--error-on-warnings', '.'],
  'unused files, exports and dependencies': () => [bin('knip')],
  boundaries: () => [bin('depcruise'), '--output-type=err-long', 'apps', 'packages', 'tools'],
  // Each warning is an error: a link that leads nowhere, a parameter that does not exist.
  'API reference': () => [...apiReference(), '--emit', 'none'],
  types: () => [bin('tsc'), '--build', '.'],
};

/** Writes the API reference of the packages to tools/reference/generated. */
export const apiReference = () => [bin('typedoc', 'tools/reference'), '--options', 'tools/reference'];

const AT_ONCE = 2;

/** Runs all checks, two at a time, and shows the output of those that fail. */
export async function runChecks() {
  const waiting = Object.entries(checks).values();
  let failed = 0;
  const work = async () => {
    for (const [name, program] of waiting) {
      const begin = performance.now();
      // All tests are included, because they use files that nothing else imports.
      const result = await runProgram(program(), { env: { ALL_TESTS: 'nightly' }, capture: true });
      if (interrupted()) process.exit(exitCodeOf(result) || 1);
      const seconds = ((performance.now() - begin) / 1000).toFixed(1);
      if (result.code === 0) {
        console.log(`✓ ${name} (${seconds} s)`);
      } else {
        failed += 1;
        console.log(`✗ ${name} (${seconds} s)\n${result.output.trimEnd()}\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { passed: Object.keys(checks).length - failed, failed };
}
