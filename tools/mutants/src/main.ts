import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';

const ROOT = join(import.meta.dirname, '../../..');

/** Makes deliberate errors in modules, one at a time, and prints those that no test finds. */
const paths = process.argv.slice(2);
const tests = paths.filter((path) => path.endsWith('.test.ts'));
const targets = paths.filter((path) => !tests.includes(path));
/** The path without its range of lines. */
const withoutLines = (path: string) => path.replace(/:\d+-\d+$/, '');
if (targets.length === 0 || !targets.every((path) => existsSync(join(ROOT, withoutLines(path))))) {
  console.error(
    'usage: npm run mutants -- packages/domain [further folders, modules, and lines as in module.ts:10-20] [tests that are not beside them]',
  );
  process.exit(2);
}
process.chdir(ROOT);
process.env['TESTS'] = JSON.stringify([
  ...targets.map((path) => `${withoutLines(path).replace(/\.ts$/, '')}{,/**/*}.test.ts`),
  ...tests,
]);

const options: PartialStrykerOptions = {
  testRunner: 'vitest',
  vitest: { configFile: 'tools/mutants/src/vitest.config.ts', related: true },
  plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
  coverageAnalysis: 'perTest',
  mutate: [
    ...targets.map((path) => (withoutLines(path).endsWith('.ts') ? path : `${path}/**/*.ts`)),
    '!**/test/**',
    '!**/dist/**',
    '!**/*.test.ts',
  ],
  // A busy machine is slow, which must not count as a mutant that hangs.
  timeoutMS: 15_000,
  timeoutFactor: 4,
  tempDirName: 'tools/mutants/generated/sandbox',
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { reportTests: false, allowColor: false },
  concurrency: 2,
  // Stryker rewrites it with TypeScript's compiler, whose JavaScript API TypeScript 7 does not have.
  tsconfigFile: 'none',
};
await new Stryker(options).runMutationTest();
