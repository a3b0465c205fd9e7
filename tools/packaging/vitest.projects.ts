import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectOptions } from '../../vitest.config.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The setups of adapters, such as a server: the examples of their READMEs need them, too. */
const setups = await Promise.all(
  globSync('packages/adapter-*/vitest.projects.ts', { cwd: ROOT }).map(async (file) => {
    const projects: readonly ProjectOptions[] = (await import(join(ROOT, file))).default;
    return projects.flatMap(({ globalSetup = [] }) => globalSetup);
  }),
);

const ON_SOURCES = 'test/starter.test.ts';

export default [
  { name: 'on sources', include: [ON_SOURCES] },
  { level: 'release', exclude: [ON_SOURCES], globalSetup: ['test/global-setup.ts', ...new Set(setups.flat())] },
] satisfies ProjectOptions[];
