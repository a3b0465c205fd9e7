import type { ProjectOptions } from '../../vitest.config.ts';

export default [
  {},
  { name: 'on whole copies', include: ['test/whole-copies.nightly.ts'], level: 'nightly' },
] satisfies ProjectOptions[];
