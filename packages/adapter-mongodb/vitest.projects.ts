import type { ProjectOptions } from '../../vitest.config.ts';

export default [{ globalSetup: ['@animal-store/test-servers/mongodb-setup'] }] satisfies ProjectOptions[];
