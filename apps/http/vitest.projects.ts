import { readdirSync } from 'node:fs';
import type { ProjectOptions } from '../../vitest.config.ts';

/** Tests whose result does not depend on the storage. */
const WITHOUT_STORAGE = [
  'cors',
  'docs-page*',
  'limits',
  'log*',
  'open-files',
  'probe-port',
  'proxies',
  'request-targets',
  'rolling-restarts',
  'storage-down',
  'tracing',
].map((name) => `test/${name}.test.ts`);

/** The storages that outlive a process, by the names of their adapters' folders. */
const DURABLE = readdirSync(`${import.meta.dirname}/../../packages`)
  .map((folder) => /^adapter-(?!contract$|memory$)(.+)$/.exec(folder)?.[1])
  .filter((name) => name !== undefined);

/** What the tests on a storage need besides, or run instead of those in which pets are stored. */
const SPECIAL: Readonly<Record<string, ProjectOptions>> = {
  mongodb: {
    include: ['test/**/*.test.ts'],
    exclude: [...WITHOUT_STORAGE, 'test/sqlite*.test.ts'],
    env: { TEST_STORAGE: 'mongodb', HOSTILE_REQUESTS: '2000' },
    globalSetup: ['@animal-store/test-mongodb/global-setup'],
    setupFiles: ['test/needs-mongodb.ts'],
  },
};

const onStorage = (name: string): ProjectOptions => ({
  name: `on ${name}`,
  include: ['test/{create-pet,get-pet,list-pets,openapi,durable-storage}.test.ts'],
  env: { TEST_STORAGE: name },
  ...SPECIAL[name],
});

export default [
  { exclude: ['test/mongodb*.test.ts', 'test/durable-storage.test.ts'] },
  ...DURABLE.map(onStorage),
] satisfies ProjectOptions[];
