import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const project = (root: string, test: object = {}) => ({
  extends: true as const,
  root,
  test: { name: root, include: ['{src,test}/**/*.test.ts'], ...test },
});

/** Starts one server for the run, whichever projects name it: see tools/test-mongodb. */
const withMongo = { globalSetup: ['../../tools/test-mongodb/src/global-setup.ts'] };

/** Tests of apps/http that say the same on any storage. */
const WITHOUT_STORAGE = ['cors', 'docs-page*', 'limits', 'monitoring', 'storage-down'].map(
  (name) => `test/${name}.test.ts`,
);

export default defineConfig({
  // Workspace packages are tested from their sources: see `exports` in their package.json.
  ssr: { resolve: { conditions: ['source', 'module', 'node', 'development|production'] } },
  test: {
    environment: 'node',
    // Two at least, however few cores there are: most of what is tested here waits.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      project('apps/http', { exclude: ['test/mongodb*.test.ts', 'test/durable-storage.test.ts'] }),
      // What memory promises to HTTP clients, MongoDB promises.
      project('apps/http', {
        ...withMongo,
        name: 'apps/http on MongoDB',
        include: ['test/**/*.test.ts'],
        exclude: WITHOUT_STORAGE,
        env: { TEST_STORAGE: 'mongodb', HOSTILE_REQUESTS: '2000' },
        setupFiles: ['test/needs-mongodb.ts'],
      }),
      // And what SQLite promises, too: the tests in which animals are stored.
      project('apps/http', {
        name: 'apps/http on SQLite',
        include: ['test/{create-pet,get-pet,list-pets,openapi,durable-storage}.test.ts'],
        env: { TEST_STORAGE: 'sqlite' },
      }),
      project('apps/cli'),
      project('packages/exact-json'),
      project('packages/domain'),
      project('packages/adapter-memory'),
      project('packages/adapter-mongodb', withMongo),
      project('packages/adapter-sqlite'),
      project('tools/bootstrap'),
      project('tools/boundaries'),
      // The tests of the image build it first, which takes a while where nothing of it is cached.
      project('tools/container-smoke', {
        globalSetup: [`${import.meta.dirname}/tools/container-smoke/src/global-setup.ts`],
        testTimeout: 60_000,
      }),
      project('tools/deploy'),
      project('tools/packaging'),
      project('tools/test-mongodb'),
    ],
  },
});
