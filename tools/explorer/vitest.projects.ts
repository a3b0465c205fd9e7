import type { ProjectOptions } from '../../vitest.config.ts';

const MODEL = ['test/model.test.ts'];

/** It takes longer than all other tests together. */
const LONGEST = 'repeated-keys';

export default [
  { exclude: MODEL, env: { SCENARIOS: `!(${LONGEST})` } },
  { name: 'model', release: true, include: MODEL },
  { name: LONGEST, release: true, include: ['test/scenarios.test.ts'], env: { SCENARIOS: LONGEST } },
] satisfies ProjectOptions[];
