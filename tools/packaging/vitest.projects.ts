import type { ProjectOptions } from '../../vitest.config.ts';

// The example of adapter-mongodb runs on a server.
const globalSetup = ['test/global-setup.ts', '@animal-store/test-mongodb/global-setup'];

export default [{ release: true, globalSetup }] satisfies ProjectOptions[];
