import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ globalSetup: ['@animal-store/test-mongodb/global-setup'] }] satisfies ProjectOptions[];
