import type { ProjectOptions } from '../../vitest.config.ts';

const globalSetup = ['src/global-setup.ts'];

/** Others wrote it. */
const SCHEMATHESIS = 'test/schemathesis.test.ts';

export default [
  { level: 'release', globalSetup, exclude: [SCHEMATHESIS] },
  { name: 'with Schemathesis', level: 'nightly', globalSetup, include: [SCHEMATHESIS] },
] satisfies ProjectOptions[];
