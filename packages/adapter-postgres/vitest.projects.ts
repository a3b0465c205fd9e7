import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ globalSetup: ['@animal-store/test-postgres/global-setup'] }] satisfies ProjectOptions[];
