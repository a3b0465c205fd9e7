import type { ProjectOptions } from '../../vitest.config.ts';

const globalSetup = ['src/global-setup.ts'];

/** Others wrote them. */
const NIGHTLY = ['test/mcp.test.ts', 'test/schemathesis.test.ts'];

export default [
  { level: 'release', globalSetup, exclude: NIGHTLY },
  { name: 'of others', level: 'nightly', globalSetup, include: NIGHTLY },
] satisfies ProjectOptions[];
