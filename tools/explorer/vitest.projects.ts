import type { ProjectOptions } from '../../vitest.config.ts';

/** It takes longer than all other tests together. */
const LONGEST = 'repeated-keys';

export default [
  { env: { SCENARIOS: `!(${LONGEST})` } },
  { name: LONGEST, release: true, include: ['test/scenarios.test.ts'], env: { SCENARIOS: LONGEST } },
] satisfies ProjectOptions[];
