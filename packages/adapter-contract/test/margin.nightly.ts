import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SEED, SEQUENCES } from '../src/any-sequence.ts';
import { plansOf, runPlan } from '../src/model/steps.ts';
import { adapterWith } from './broken/copies-adapter.ts';

/** So many of the sequences find each: with fewer, a change of the steps could hide the bug by chance. */
const MARGIN = 3;

/** Bugs that prove the model, of each kind of state. */
const WITNESSES = [
  'Each connection assigns ids of its own block',
  'An idempotency key is looked up, then stored in a second step',
  'The use of an unknown API key makes a record',
  'A counter of ids is that of the storage which assigned the last',
  'A use beside another change of its API key is unavailable',
  'Ids go on after the highest that is stored, and a restore raises no counter',
  'The parts of an index that a list has once seen are taken for all',
  'A revocation writes back the use that it has read',
  'Each creation beside a counter that was set back is a defect',
  'A restore overwrites a stored pet',
];

test.each(WITNESSES)('the model finds by several sequences: %s', async (bug) => {
  const adapter = adapterWith(bug);
  let found = 0;
  for (const plan of fc.sample(plansOf(adapter), { seed: SEED, numRuns: SEQUENCES }))
    await runPlan(adapter, plan).catch(() => {
      found += 1;
    });
  expect(found, `of ${SEQUENCES} sequences`).toBeGreaterThanOrEqual(MARGIN);
});
