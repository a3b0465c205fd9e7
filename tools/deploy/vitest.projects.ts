import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ level: 'release', globalSetup: ['test/global-setup.ts'] }] satisfies ProjectOptions[];
