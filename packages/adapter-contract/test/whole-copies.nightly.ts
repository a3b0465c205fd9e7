import { beforeAll, expect, test } from 'vitest';
import { BUGS } from './broken/bugs.ts';
import { type Result, resultsOf } from './broken/results.ts';

/** A copy of each kind of check. An earlier check of a run must not hide a bug from the one that finds it. */
const COPIES = [
  'A counter of ids is that of the storage which assigned the last',
  'Holder and key are kept as a hash of 32 bits',
  'API keys behind the first 1,024 that the engine returns are in no list',
  'An exhausted counter of ids is an outage',
  'A batch is repeated if its COMMIT gets no response',
  'A creation of several requests goes on after its call has failed',
  'One timer of a module goes on after the last close',
  'Revocations are kept by the process',
  'The pets that were found are kept for ever',
  'The record of a revoked API key has a time to live',
];

let results: readonly Result[];

beforeAll(async () => {
  results = await resultsOf({ COPIES: JSON.stringify(COPIES), CHECKS: 'all' });
}, 3_600_000);

test.each(COPIES)('the whole contract finds: %s', (bug) => {
  const failed = results.filter(({ ancestorTitles, status }) => ancestorTitles[0] === bug && status === 'failed');
  expect(failed.map(({ title }) => title)).toContain(BUGS[bug]?.foundBy);
});
