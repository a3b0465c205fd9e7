import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ release: true, globalSetup: ['test/global-setup.ts'] }] satisfies ProjectOptions[];
