import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ globalSetup: ['test/global-setup.ts'] }] satisfies ProjectOptions[];
