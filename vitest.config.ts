import { defineConfig } from 'vitest/config';

const project = (root: string, test: object = {}) => ({
  extends: true as const,
  root,
  test: { name: root, include: ['src/**/*.test.ts'], ...test },
});

export default defineConfig({
  // Workspace packages are tested from their sources: see `exports` in their package.json.
  ssr: { resolve: { conditions: ['source', 'module', 'node', 'development|production'] } },
  test: {
    environment: 'node',
    projects: [project('packages/domain'), project('packages/adapter-memory')],
  },
});
