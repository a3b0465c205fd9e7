import type { ProjectOptions } from '../../vitest.config.ts';

// The tests build the image first.
export default [{ globalSetup: ['src/global-setup.ts'], testTimeout: 60_000 }] satisfies ProjectOptions[];
