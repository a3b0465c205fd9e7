import type { ProjectOptions } from '../../vitest.config.ts';

export default [
  {
    globalSetup: ['src/global-setup.ts'],
    // Compilers of other languages run beside no test that watches the clock.
    sequence: { groupOrder: process.env['CLIENT_TESTS'] ? 1 : 0 },
  },
] satisfies ProjectOptions[];
