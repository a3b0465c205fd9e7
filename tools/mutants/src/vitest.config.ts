import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = process.env['MUTATED'] as string;

/** The tests beside the sources of one package: what needs a server or a process of its own is too slow for mutants. */
export default defineConfig({
  root: join(import.meta.dirname, '../../..'),
  ssr: { resolve: { conditions: ['@animal-store/source', 'module', 'node', 'development|production'] } },
  test: { include: [`${root}/src/**/*.test.ts`, `${root}/test/**/*.test.ts`] },
});
