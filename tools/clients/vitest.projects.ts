import type { ProjectOptions } from '../../vitest.config.ts';

const NIGHTLY = ['test/mcp.test.ts'];
const globalSetup = ['src/global-setup.ts'];

export default [
  { level: 'release', exclude: NIGHTLY, globalSetup },
  { name: 'of MCP', level: 'nightly', include: NIGHTLY, globalSetup },
] satisfies ProjectOptions[];
