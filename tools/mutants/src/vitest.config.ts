import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The tests of the mutated modules. */
export default defineConfig({
  root: join(import.meta.dirname, '../../..'),
  ssr: { resolve: { conditions: ['@animal-store/source', 'module', 'node', 'development|production'] } },
  test: {
    include: JSON.parse(process.env['TESTS'] as string),
    setupFiles: [join(import.meta.dirname, 'properties.ts')],
    // Below the limit of Stryker, which ends the worker and starts another one.
    testTimeout: 10_000,
    hookTimeout: 10_000,
    expect: { poll: { timeout: 5_000 } },
  },
});
