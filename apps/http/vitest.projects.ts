import type { ProjectOptions } from '../../vitest.config.ts';

/** Tests whose result does not depend on the storage. */
const WITHOUT_STORAGE = ['cors', 'docs-page*', 'limits', 'monitoring', 'storage-down'].map(
  (name) => `test/${name}.test.ts`,
);

export default [
  { exclude: ['test/mongodb*.test.ts', 'test/durable-storage.test.ts'] },
  {
    name: 'on MongoDB',
    include: ['test/**/*.test.ts'],
    exclude: WITHOUT_STORAGE,
    env: { TEST_STORAGE: 'mongodb', HOSTILE_REQUESTS: '2000' },
    globalSetup: ['@animal-store/test-mongodb/global-setup'],
    setupFiles: ['test/needs-mongodb.ts'],
  },
  {
    name: 'on SQLite',
    include: ['test/{create-pet,get-pet,list-pets,openapi,durable-storage}.test.ts'],
    env: { TEST_STORAGE: 'sqlite' },
  },
] satisfies ProjectOptions[];
