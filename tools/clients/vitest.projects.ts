import type { ProjectOptions } from '../../vitest.config.ts';

export default [
  // Compilers of other languages run beside no test that watches the clock.
  { release: true, globalSetup: ['src/global-setup.ts'], sequence: { groupOrder: 1 } },
] satisfies ProjectOptions[];
