import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import {
  BSON,
  type BulkWriteResult,
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type TopologyDescription,
} from 'mongodb';
import { describe, expect, test } from 'vitest';
import { toPortError } from './failures.ts';
import { parseUrl } from './url.ts';

const { redact } = parseUrl(
  'mongodb://us%3Aer:p%40ss@localhost/animals?proxyHost=h&proxyUsername=u&proxyPassword=pr0xy',
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

describe('toPortError', () => {
  test('converts an error of the driver to storage_unavailable, with a cause for the log', () => {
    const thrown = toPortError(new MongoNetworkError('connect ECONNREFUSED 10.0.0.7:27017'), redact);
    expect(thrown).toBeInstanceOf(DomainError);
    expect(thrown).toMatchObject({
      ...{ code: 'storage_unavailable', message: expect.not.stringMatching(/10\.0|ECONN|Mongo/) },
      cause: { name: 'MongoNetworkError', message: 'connect ECONNREFUSED 10.0.0.7:27017' },
    });
  });

  test.each([
    ['the code 13', serverError(13), /^the server rejects the user, the password or the rights: no$/],
    ['the code 18', serverError(18), /^the server rejects/],
    ['the code 8000', serverError(8000), /^the server rejects/],
    ['a folder', systemError('read', 'EISDIR: illegal operation, read'), /^a file .* cannot be read: EISDIR/],
    ['a file', systemError('open', "ENOENT: no such file, open '/ca'"), /^a file .*: ENOENT.*'\/ca'$/],
    ['servers that are not in the set', selectionError(), /^no server of the URL is a member .*: timed out$/],
  ])('reports %s as a misconfiguration, in one line', (_name, failure, line) => {
    const { code, cause } = toPortError(failure, redact) as DomainError;
    expect(code).toBe('storage_unavailable');
    expect(StorageMisconfigured.is(cause)).toBe(true);
    expect((cause as Error).message).toMatch(line);
    expect((cause as Error).cause).toMatchObject({ code: (failure as NodeJS.ErrnoException).code });
  });

  test.each([
    ['another code', serverError(11600)],
    ['a bulk write', bulkWrite],
    ['a name that is unknown', systemError('getaddrinfo', 'ENOTFOUND: nowhere')],
    ['a set without a primary', selectionError('RSSecondary', 'Unknown')],
    ['the time limit of a call', Object.assign(new Error('no response'), { name: 'TimeoutError' })],
    ['a socket that the server has ended', Object.assign(new Error('ended by the other party'), { code: 'EPIPE' })],
    ['a socket that was destroyed', Object.assign(new Error('destroyed'), { code: 'ERR_STREAM_DESTROYED' })],
  ])('does not report %s as a misconfiguration', (_name, failure) => {
    const { code, cause } = toPortError(failure, redact) as DomainError;
    expect(code).toBe('storage_unavailable');
    expect(StorageMisconfigured.is(cause)).toBe(false);
  });

  test.each([
    ['an error in the code', new TypeError('a defect')],
    ['a value that BSON cannot hold', new BSON.BSONError('too big')],
  ])('returns %s unchanged', (_name, failure) => {
    expect(toPortError(failure, redact)).toBe(failure);
  });

  test.each([
    ['unique index', 11_000, 'E11000 duplicate key error dup key: { key: "customer-secret-77" }'],
    ['schema', 121, 'Document failed validation'],
  ])('returns a violated %s as an error without data', (_, code, message) => {
    const failure = Object.assign(serverError(code), { message, errInfo: { details: 'customer-secret-77' } });
    const error = toPortError(failure, redact);
    expect(error).toMatchObject({ name: 'MongoServerError', code, message: message.replace(/ \{.*/, '') });
    expect(inspect(error, { depth: 9 })).not.toContain('customer-secret-77');
  });
});

describe('the cause of storage_unavailable', () => {
  const causeOf = (failure: Error) => (toPortError(failure, redact) as DomainError).cause as Error;

  test('has no secret, in any spelling, and no stored data', () => {
    const text =
      'at mongodb://us%3Aer:p%40ss@localhost/animals and p@ss and p%40ss and pr0xy: not authorized to execute command ' +
      '{ insert: "pets", documents: [\n{ name: "Rex" } ] }';
    const { message, stack } = causeOf(new MongoServerError({ message: text, code: 1 }));
    expect(message).toBe(
      'at mongodb://[redacted]@localhost/animals and [redacted] and [redacted] and [redacted]: not authorized to ' +
        'execute command',
    );
    expect(stack).not.toMatch(/p@ss|p%40ss|pr0xy|Rex/);
  });

  test('names what follows the data of a query, and not the data', () => {
    const data = '$and idempotency.holder $eq "zo"o {x}" idempotency.key $in [ "b{r}" "sec"ret" ] Sort: {}';
    const message = `error processing query: ns=zoo.pets Tree: ${data}\n planner returned error: no such index`;
    expect(causeOf(new MongoServerError({ message })).message).toBe(
      'error processing query: ns=zoo.pets Tree: $and idempotency.holder $eq planner returned error: no such index',
    );
  });

  test('has one line', () => {
    expect(causeOf(new MongoNetworkError('0A00010B:SSL:\r\nwrong\n')).message).toBe('0A00010B:SSL: wrong');
  });
});
