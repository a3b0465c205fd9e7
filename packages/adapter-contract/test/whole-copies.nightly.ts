import { beforeAll, expect, test } from 'vitest';
import { BUGS } from './broken/bugs.ts';
import { type Result, resultsOf } from './broken/results.ts';

/** One copy of each kind of check. An earlier check of a run must not hide a bug from the one that finds it. */
const COPIES = Object.keys(BUGS).filter(
  (bug, index, bugs) => bugs.findIndex((other) => BUGS[other]?.foundBy === BUGS[bug]?.foundBy) === index,
);

let results: readonly Result[];

beforeAll(async () => {
  results = await resultsOf({ COPIES: JSON.stringify(COPIES), CHECKS: 'all' });
}, 3_600_000);

test.each(COPIES)('the whole contract finds: %s', (bug) => {
  const failed = results.filter(({ ancestorTitles, status }) => ancestorTitles[0] === bug && status === 'failed');
  expect(failed.map(({ title }) => title)).toContain(BUGS[bug]?.foundBy);
});
