import type { ProjectOptions } from '../../vitest.config.ts';

const setups = ['@animal-store/test-mongodb/global-setup', '@animal-store/test-postgres/global-setup'];

export default [{ globalSetup: setups }] satisfies ProjectOptions[];
