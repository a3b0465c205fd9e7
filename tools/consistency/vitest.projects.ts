import type { ProjectOptions } from '../../vitest.config.ts';

const setups = ['@animal-store/test-servers/mongodb-setup', '@animal-store/test-servers/postgres-setup'];

export default [{ globalSetup: setups }] satisfies ProjectOptions[];
