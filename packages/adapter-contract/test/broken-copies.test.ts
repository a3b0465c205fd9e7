import { beforeAll, describe, expect, test } from 'vitest';
import { behindProxy, storageContract } from '../src/index.ts';
import { openStorage } from './broken/adapter.ts';
import { BUGS } from './broken/bugs.ts';
import { type Result, resultsOf } from './broken/results.ts';

describe('the contract', () => {
  let results: readonly Result[];

  beforeAll(async () => {
    results = await resultsOf({});
  });

  const titlesOf = (bug: string, ...statuses: readonly Result['status'][]) => [
    ...new Set(
      results.flatMap(({ ancestorTitles, title, status }) =>
        ancestorTitles[0] === bug && statuses.includes(status) ? [title] : [],
      ),
    ),
  ];

  test('accepts an adapter without a bug, with the time limits that Vitest has if none are set', () => {
    expect(titlesOf('none', 'failed')).toEqual([]);
    // Each part of the run skips those of the others.
    expect(titlesOf('none', 'passed').sort()).toEqual(titlesOf('none', 'passed', 'skipped').sort());
  });

  test.each(Object.keys(BUGS))('finds: %s', (bug) => {
    expect(titlesOf(bug, 'failed')).toEqual([BUGS[bug]?.foundBy]);
    const { failureMessages = [] } =
      results.find(({ ancestorTitles, status }) => ancestorTitles[0] === bug && status === 'failed') ?? {};
    expect(failureMessages.join()).toMatch(BUGS[bug]?.message ?? '');
  });
});

test('the contract needs an interruption, or that none is tested', () => {
  const adapter = { freshPlace: () => 'zoo', open: (url: string) => openStorage(url), interruptions: {} };
  expect(() => storageContract('no interruption', adapter)).toThrow(
    "interruptions is empty: name one, or write 'not tested'",
  );
});

test('a place behind a proxy needs a URL with a port', async () => {
  const { freshPlace } = behindProxy({ freshPlace: () => 'zoo', open: (url) => openStorage(url) });
  const rule = 'freshPlace must return a URL with a port, so that a proxy can lead there: "zoo"';
  await expect(freshPlace()).rejects.toThrow(rule);
});
