import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectOptions } from '../../vitest.config.ts';

/** Tests that run on each storage that outlives a process. */
const ON_STORAGES = ['test/durable-storage.test.ts'];

/** Tests that need a browser or proxies. */
const OTHER_PROGRAMS = ['test/browser.test.ts', 'test/proxies.test.ts'];

/** Tests that wait for a limit of more than half a minute. */
const OVER_A_MINUTE = ['test/time-limits.test.ts'];

/** The setups that the tests of adapters need, such as servers. */
const setups = await Promise.all(
  globSync('../../packages/adapter-*/vitest.projects.ts', { cwd: import.meta.dirname }).map(async (file) => {
    const projects: readonly ProjectOptions[] = (await import(join(import.meta.dirname, file))).default;
    return projects.flatMap(({ globalSetup = [] }) => globalSetup);
  }),
);

export default [
  { exclude: [...ON_STORAGES, ...OTHER_PROGRAMS, ...OVER_A_MINUTE] },
  { name: 'on storages', include: ON_STORAGES, globalSetup: setups.flat() },
  { name: 'with other programs', level: 'release', include: OTHER_PROGRAMS },
  { name: 'for a minute', level: 'nightly', include: OVER_A_MINUTE },
] satisfies ProjectOptions[];
