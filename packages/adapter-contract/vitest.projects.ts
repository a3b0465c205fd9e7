import type { ProjectOptions } from '../../vitest.config.ts';

export default [{}, { name: 'at night', include: ['test/*.nightly.ts'], level: 'nightly' }] satisfies ProjectOptions[];
