import { DomainError } from '@animal-store/domain';
import { expect, test, vi } from 'vitest';
import { createErrorReport } from './error-report.ts';

test('reports an unavailable storage and unexpected errors, each once a minute', () => {
  const written: string[] = [];
  const report = createErrorReport((message) => written.push(message));
  const unavailable = new DomainError('storage_unavailable', 'try again', { cause: new Error('connection refused') });
  const clock = vi.spyOn(performance, 'now');
  const now = [0, 1, 2, 3, 60_002].values();
  for (const error of [unavailable, unavailable, new TypeError('a defect'), 'another', 'a third']) {
    clock.mockReturnValue(now.next().value as number);
    report(error);
    if (error === unavailable) expect(written).toEqual(['the storage is unavailable: connection refused']);
  }
  clock.mockRestore();
  expect(written.slice(1)).toEqual([
    expect.stringMatching(/^unexpected error: TypeError: a defect\n {4}at /),
    "unexpected error: 'a third'",
  ]);
});

test('ignores errors that are for the caller', () => {
  createErrorReport(expect.unreachable)(new DomainError('pet_not_found', 'no pet has the id 7'));
});
