import { defineConfig } from 'vitest/config';

/** Most of these tests fail at a timeout, so several processes run them at the same time. */
const PARTS = 3;

export default defineConfig({
  ssr: { resolve: { conditions: ['@animal-store/source', 'module', 'node', 'development|production'] } },
  test: {
    maxWorkers: PARTS,
    projects: Array.from({ length: PARTS }, (_, part) => ({
      extends: true,
      test: { name: `part ${part}`, include: ['copies.ts'], env: { PART: `${part}`, PARTS: `${PARTS}` } },
    })),
  },
});
