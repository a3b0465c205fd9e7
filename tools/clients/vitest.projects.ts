import type { ProjectOptions } from '../../vitest.config.ts';

export default [
  // Compilers of other languages would slow down tests that measure time.
  { level: 'release', globalSetup: ['src/global-setup.ts'], sequence: { groupOrder: 1 } },
] satisfies ProjectOptions[];
