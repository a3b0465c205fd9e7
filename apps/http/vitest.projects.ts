import { existsSync, readdirSync } from 'node:fs';
import type { ProjectOptions } from '../../vitest.config.ts';

/** Tests that depend on how the storage responds: whether it shares counts, or outlives the process. */
const ON_STORAGES = 'create-pet,durable-storage';

/** Tests whose result on one storage that returns promises holds for all. */
const ON_MONGODB = 'read-pets';

/** Tests that need a browser or proxies. */
const OTHER_PROGRAMS = ['test/browser.test.ts', 'test/proxies.test.ts'];

/** Tests that wait for a limit of more than half a minute. */
const OVER_A_MINUTE = ['test/time-limits.test.ts'];

const PACKAGES = `${import.meta.dirname}/../../packages`;

/** The storages that outlive a process, by the names of their adapters' folders. */
const DURABLE = readdirSync(PACKAGES)
  .map((folder) => /^adapter-(?!contract$|kit$|memory$)(.+)$/.exec(folder)?.[1])
  .filter((name) => name !== undefined);

/** The setup that the tests of an adapter need, such as a server: those of the application need it, too. */
async function setupOf(name: string): Promise<Pick<ProjectOptions, 'globalSetup'>> {
  const file = `${PACKAGES}/adapter-${name}/vitest.projects.ts`;
  const projects: readonly ProjectOptions[] = existsSync(file) ? (await import(file)).default : [];
  const globalSetup = projects.flatMap((project) => project.globalSetup ?? []);
  return { ...(globalSetup.length > 0 && { globalSetup }) };
}

const onStorage = async (name: string): Promise<ProjectOptions> => ({
  name: `on ${name}`,
  include: [`test/{${ON_STORAGES},${name === 'mongodb' ? `${ON_MONGODB},` : ''}${name}*}.test.ts`],
  env: { TEST_STORAGE: name },
  setupFiles: ['test/needs-server.ts'],
  ...(await setupOf(name)),
});

export default [
  {
    exclude: [
      `test/{durable-storage,${DURABLE.map((name) => `${name}*`)}}.test.ts`,
      ...OTHER_PROGRAMS,
      ...OVER_A_MINUTE,
    ],
  },
  { name: 'with other programs', level: 'release', include: OTHER_PROGRAMS },
  { name: 'for a minute', level: 'nightly', include: OVER_A_MINUTE },
  ...(await Promise.all(DURABLE.map(onStorage))),
] satisfies ProjectOptions[];
