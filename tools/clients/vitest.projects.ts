import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ level: 'release', globalSetup: ['src/global-setup.ts'] }] satisfies ProjectOptions[];
