import { existsSync, readdirSync } from 'node:fs';
import type { ProjectOptions } from '../../vitest.config.ts';

/** Tests whose result does not depend on the storage. */
const WITHOUT_STORAGE = [
  'cors',
  'docs-page*',
  'early-responses',
  'limits',
  'log*',
  'open-files',
  'paths-and-methods',
  'probe-port',
  'proxies',
  'request-targets',
  'response-fields',
  'rolling-restarts',
  'storage-down',
  'tracing',
].map((name) => `test/${name}.test.ts`);

/** Tests that need a browser or proxies. */
const OTHER_PROGRAMS = ['test/docs-page-browser.test.ts', 'test/proxies.test.ts'];

const PACKAGES = `${import.meta.dirname}/../../packages`;

/** The storages that outlive a process, by the names of their adapters' folders. */
const DURABLE = readdirSync(PACKAGES)
  .map((folder) => /^adapter-(?!contract$|memory$)(.+)$/.exec(folder)?.[1])
  .filter((name) => name !== undefined);

/** All tests run on a server, not only those in which pets are stored. */
const onServer = (name: string, others: readonly string[]): ProjectOptions => ({
  include: ['test/**/*.test.ts'],
  exclude: [...WITHOUT_STORAGE, ...others.map((other) => `test/${other}*.test.ts`)],
  env: { TEST_STORAGE: name, HOSTILE_REQUESTS: '2000' },
  setupFiles: ['test/needs-server.ts'],
});

/** What one server shows for all. */
const ANY_SERVER = ['hostile', 'process', 'rejections'];

const SPECIAL: Readonly<Record<string, ProjectOptions>> = {
  mongodb: onServer('mongodb', ['sqlite']),
  postgres: onServer('postgres', ['mongodb', 'sqlite', ...ANY_SERVER]),
};

/** The setup that the tests of an adapter need, such as a server: those of the application need it, too. */
async function setupOf(name: string): Promise<Pick<ProjectOptions, 'globalSetup'>> {
  const file = `${PACKAGES}/adapter-${name}/vitest.projects.ts`;
  const projects: readonly ProjectOptions[] = existsSync(file) ? (await import(file)).default : [];
  const globalSetup = projects.flatMap((project) => project.globalSetup ?? []);
  return { ...(globalSetup.length > 0 && { globalSetup }) };
}

const onStorage = async (name: string): Promise<ProjectOptions> => ({
  name: `on ${name}`,
  include: ['test/{create-pet,get-pet,list-pets,openapi,durable-storage}.test.ts'],
  env: { TEST_STORAGE: name },
  ...(await setupOf(name)),
  ...SPECIAL[name],
});

export default [
  { exclude: ['test/mongodb*.test.ts', 'test/durable-storage.test.ts', ...OTHER_PROGRAMS] },
  { name: 'with other programs', release: true, include: OTHER_PROGRAMS },
  ...(await Promise.all(DURABLE.map(onStorage))),
] satisfies ProjectOptions[];
