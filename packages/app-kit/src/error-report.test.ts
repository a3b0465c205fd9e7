import { DomainError } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { createErrorReport } from './error-report.ts';

test('tells the operator why the storage is unavailable and what is unexpected, each once a minute', () => {
  const written: string[] = [];
  const report = createErrorReport((message) => written.push(message));
  const unavailable = new DomainError('storage_unavailable', 'try again', { cause: new Error('connection refused') });
  for (const error of [unavailable, unavailable, new TypeError('a defect'), 'another']) report(error);
  expect(written).toEqual([
    'the storage is unavailable: connection refused',
    expect.stringMatching(/^unexpected error: TypeError: a defect\n {4}at /),
  ]);
});

test('ignores errors that are for the caller', () => {
  createErrorReport(expect.unreachable)(new DomainError('pet_not_found', 'no pet has the id 7'));
});
