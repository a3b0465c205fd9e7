import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ globalSetup: ['test/global-setup.ts'], testTimeout: 60_000 }] satisfies ProjectOptions[];
