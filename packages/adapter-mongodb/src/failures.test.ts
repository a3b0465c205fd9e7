import { inspect } from 'node:util';
import type { DomainError } from '@animal-store/domain';
import { misconfigurationOf } from '@animal-store/test-kit/failures';
import {
  BSON,
  type BulkWriteResult,
  MongoBulkWriteError,
  MongoServerError,
  MongoServerSelectionError,
  type TopologyDescription,
} from 'mongodb';
import { describe, expect, test } from 'vitest';
import { isLost, toPortError } from './failures.ts';
import { parseUrl } from './url.ts';

const server = parseUrl(
  'mongodb://us%3Aer:p%40ss@localhost/animals?proxyHost=h&proxyUsername=u&proxyPassword=p%40ss-pr0xy&tlsCertificateKeyFilePassword=k3y',
);

const serverError = (code?: unknown) => Object.assign(new MongoServerError({ message: 'no' }), { code });

/** Which of its documents are stored is unknown. */
const bulkWrite = new MongoBulkWriteError({ message: 'no', code: 11000, writeErrors: [] }, {} as BulkWriteResult);

/** No server is suitable; the driver knows servers of these types. */
function selectionError(...types: string[]) {
  const servers = new Map(types.map((type, index) => [`host:${index}`, { type }]));
  return new MongoServerSelectionError('timed out', { servers } as unknown as TopologyDescription);
}

/** An error of Node.js: its message begins with its code. */
const systemError = (syscall: string, message: string) =>
  Object.assign(new Error(message), { syscall, code: message.split(':')[0] });

const causeOf = (failure: Error, at = server) => (toPortError(failure, at) as DomainError).cause as Error;

test.each<[boolean, string, Error]>([
  [true, 'knows no primary', selectionError('RSSecondary', 'Unknown')],
  [true, 'knows no server', selectionError()],
  [true, 'has read a file that is repaired later', systemError('open', 'ENOENT: no such file')],
  [false, 'was denied a command', serverError(13)],
  [false, 'lost a connection', systemError('read', 'ECONNRESET: lost')],
  [false, 'has a bug', new TypeError('a defect')],
])('isLost is %s for a client that %s', (expected, _, failure) => {
  expect(isLost(failure)).toBe(expected);
});

describe('toPortError', () => {
  test.each<[string, Error, RegExp | null]>([
    ['the code 13', serverError(13), /^the server rejects the user, the password or the rights: no$/],
    ['the code 18', serverError(18), /^the server rejects/],
    ['the code 8000', serverError(8000), /^the server rejects/],
    ['a folder', systemError('read', 'EISDIR: illegal operation, read'), /^a file .* cannot be read: EISDIR/],
    ['servers that are not in the set', selectionError(), /^no server of the URL is a member .*: timed out$/],
    ['another code', serverError(11600), null],
    ['a duplicate key', serverError(11_000), null],
    ['a bulk write', bulkWrite, null],
    ['a name that is unknown', systemError('getaddrinfo', 'ENOTFOUND: nowhere'), null],
    ['a set without a primary', selectionError('RSSecondary', 'Unknown'), null],
    ['a socket that the server has ended', Object.assign(new Error('ended'), { code: 'EPIPE' }), null],
    ['a socket that was destroyed', Object.assign(new Error('destroyed'), { code: 'ERR_STREAM_DESTROYED' }), null],
  ])(
    'reports %s as storage_unavailable, with a line for the operator if something must be changed',
    (_, failure, line) => {
      const error = toPortError(failure, server) as DomainError;
      expect(error).toMatchObject({ name: 'DomainError', code: 'storage_unavailable' });
      expect(misconfigurationOf(error) ?? 'none').toMatch(line ?? /^none$/);
      const logged = line === null ? error.cause : causeOf(failure).cause;
      expect(logged).toMatchObject({ name: failure.name, code: (failure as NodeJS.ErrnoException).code });
    },
  );

  test.each([
    ['an error in the code', new TypeError('a defect')],
    ['a value that BSON cannot hold', new BSON.BSONError('too big')],
  ])('returns %s unchanged', (_, failure) => {
    expect(toPortError(failure, server)).toBe(failure);
  });

  test('returns a violated schema as an error without data', () => {
    const message = 'Document failed validation';
    const failure = Object.assign(serverError(121), { message, errInfo: { details: 'customer-secret-77' } });
    const error = toPortError(failure, server);
    expect(error).toMatchObject({ name: 'MongoServerError', code: 121, message });
    expect(inspect(error, { depth: 9 })).not.toContain('customer-secret-77');
  });
});

describe('the cause of storage_unavailable', () => {
  test.each([
    [
      'no secret, in any spelling, and no stored data',
      'at mongodb://us%3Aer:p%40ss@localhost/animals and p@ss and p%40ss-pr0xy and k3y: not authorized to execute command ' +
        '{ insert: "pets", documents: [\n{ name: "Rex" } ] }',
      'at mongodb://[redacted]@localhost/animals and [redacted] and [redacted] and [redacted]: not authorized to ' +
        'execute command',
    ],
    [
      'what follows the data of a query, and not the data',
      'error processing query: ns=zoo.pets Tree: $and idempotency.holder $eq "zo"o {x}" idempotency.key $in ' +
        '[ "b{r}" "sec"ret" ] Sort: {}\n planner returned error: no such index',
      'error processing query: ns=zoo.pets Tree: $and idempotency.holder $eq planner returned error: no such index',
    ],
    [
      'the index of a duplicate key, and not the key',
      'E11000 duplicate key error collection: zoo.pets index: name_1 dup key: { name: "Rex" }',
      'E11000 duplicate key error collection: zoo.pets index: name_1 dup key:',
    ],
    ['one line', '0A00010B:SSL:\r\nwrong\n', '0A00010B:SSL: wrong'],
  ])('has %s', (_, message, logged) => {
    const cause = causeOf(new MongoServerError({ message }));
    expect(cause.message).toBe(logged);
    expect(cause.stack).not.toMatch(/p@ss|p%40ss|pr0xy|k3y|Rex/);
  });

  test('says that TLS may be missing if a server closes the first connection, unless the URL has it', () => {
    const closed = new MongoServerError({ message: 'connection <monitor> to one:1 closed' });
    expect(causeOf(closed).message).toBe(`${closed.message}: tls=true may be missing in the URL`);
    expect(causeOf(closed, parseUrl('mongodb://one:1/animals?tls=true')).message).toBe(closed.message);
  });
});
