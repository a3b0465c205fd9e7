import { defineConfig } from 'vitest/config';

/** Many of these tests wait for a time limit, so several processes run them at the same time. */
const PARTS = 8;

// The time limits are Vitest's own: the contract must not need others.
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
