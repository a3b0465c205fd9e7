import { DomainError } from '@animal-store/domain';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { misconfiguration } from '../test/misconfiguration.ts';
import { readUrl } from './connection-url.ts';
import { asThrown, isDuplicateKey, unavailable } from './failures.ts';

const { redact } = readUrl(
  'mongodb://us%3Aer:p%40ss@localhost/animals?proxyHost=h&proxyUsername=u&proxyPassword=pr0xy',
  {},
);

describe('a failure', () => {
  test('of the driver is storage_unavailable, with a message for callers and a cause for the log', () => {
    const thrown = asThrown(new MongoNetworkError('connect ECONNREFUSED 10.0.0.7:27017'), redact);
    expect(thrown).toBeInstanceOf(DomainError);
    expect(thrown).toMatchObject({
      code: 'storage_unavailable',
      message: 'the storage cannot be reached or does not answer in time: try again',
      cause: { name: 'MongoNetworkError', message: 'connect ECONNREFUSED 10.0.0.7:27017' },
    });
  });

  test('keeps no secret, in whatever spelling, and nothing of what was stored', () => {
    const text =
      'at mongodb://us%3Aer:p%40ss@localhost/animals and p@ss and p%40ss and pr0xy: not authorized to execute command ' +
      '{ insert: "pets", documents: [\n{ name: "Rex" } ] }';
    const { cause } = unavailable(new MongoServerError({ message: text, code: 1 }), redact) as { cause?: unknown };
    expect((cause as Error).message).toBe(
      'at mongodb://[redacted]@localhost/animals and [redacted] and [redacted] and [redacted]: not authorized to ' +
        'execute command',
    );
    expect((cause as Error).stack).not.toMatch(/p@ss|p%40ss|pr0xy|Rex/);
  });

  test('is one line in the log', () => {
    const failure = new MongoNetworkError('0A00010B:SSL routines:\nwrong version number:\n');
    expect(unavailable(failure, redact)).toMatchObject({
      cause: { message: '0A00010B:SSL routines: wrong version number:' },
    });
  });

  test('that is no driver failure is thrown as it is', () => {
    for (const error of [new TypeError('a defect'), new DomainError('pet_not_found', 'no')]) {
      expect(asThrown(error, redact)).toBe(error);
    }
    expect(unavailable('no error at all', redact)).toMatchObject({ code: 'storage_unavailable' });
  });

  test.each([
    [18, /^the server refuses the user, the password or the rights$/],
    [13, /^the server refuses/],
    [8000, /^the server refuses/],
    ['STANDALONE', /^the server is a standalone: [^\n]*--replSet/],
  ])('with the code %s is one of the configuration, in one line', (code, line) => {
    const failure = Object.assign(new MongoServerError({ message: 'no' }), { code });
    expect(misconfiguration(asThrown(failure, redact))).toMatch(line);
    expect(misconfiguration(failure)).toBeNull();
  });

  test.each([11600, undefined])('with the code %s is none of the configuration', (code) => {
    const failure = new MongoServerError(code === undefined ? { message: 'no' } : { message: 'no', code });
    expect(misconfiguration(asThrown(failure, redact))).toBeNull();
  });

  test('by a unique index is told from all others', () => {
    expect(isDuplicateKey(new MongoServerError({ message: 'E11000', code: 11000 }))).toBe(true);
    expect(isDuplicateKey(new MongoServerError({ message: 'no', code: 121 }))).toBe(false);
    expect(isDuplicateKey(Object.assign(new Error('no'), { code: 11000 }))).toBe(false);
  });
});
