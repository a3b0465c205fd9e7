import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGroupCommit } from './group-commit.ts';
import type { Committed } from './transaction.ts';

const LOCKED = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
const UNAVAILABLE = expect.objectContaining({ name: 'DomainError', code: 'storage_unavailable' });

/** A transaction that has begun, and that the test ends. */
interface Transaction {
  readonly writes: readonly string[];
  /** Commits it. Each write but those with an error gets its own name in capitals. */
  commit(errors?: Record<number, unknown>): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** Lets everything happen that needs no time. */
const settle = () => vi.advanceTimersByTimeAsync(0);

function groupCommit() {
  const transactions: Transaction[] = [];
  const outcomes = new Map<string, unknown>();
  const { add, close } = createGroupCommit<string>((writes) => {
    const { promise, resolve, reject } = Promise.withResolvers<Committed>();
    transactions.push({
      writes,
      commit(errors = {}) {
        const results = writes.map((write) => write.toUpperCase());
        resolve({ results, errors: new Map(Object.entries(errors).map(([index, error]) => [Number(index), error])) });
        return settle() as unknown as Promise<void>;
      },
      fail(error) {
        reject(error);
        return settle() as unknown as Promise<void>;
      },
    });
    return promise;
  });
  /** Calls `add` for each write and keeps what becomes of it. */
  const write = (...writes: string[]) => {
    for (const each of writes) {
      add(each).then(
        (result) => outcomes.set(each, result),
        (error: unknown) => outcomes.set(each, error),
      );
    }
  };
  const transaction = (index: number) => transactions[index] as Transaction;
  return { write, close, transaction, transactions, outcomes };
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('group commit', () => {
  test('commits the first write at once', async () => {
    const { write, transactions, transaction, outcomes } = groupCommit();
    write('a');
    expect(transactions).toMatchObject([{ writes: ['a'] }]);
    expect(outcomes.size).toBe(0);
    await transaction(0).commit();
    expect(outcomes.get('a')).toBe('A');
  });

  test('commits the writes that arrive meanwhile together, in their order, and acknowledges none before', async () => {
    const { write, transactions, transaction, outcomes } = groupCommit();
    write('a', 'b');
    await settle();
    write('c');
    await transaction(0).commit();
    expect(transactions.map(({ writes }) => writes)).toEqual([['a'], ['b', 'c']]);
    expect([...outcomes]).toEqual([['a', 'A']]);
    await transaction(1).commit();
    expect([...outcomes]).toEqual([
      ['a', 'A'],
      ['b', 'B'],
      ['c', 'C'],
    ]);
  });

  test('begins the next transaction before the calls of the last one go on', async () => {
    const { write, transactions, transaction } = groupCommit();
    write('a', 'b');
    write('c');
    await transaction(0).commit();
    expect(transactions).toHaveLength(2);
    await transaction(1).commit();
    write('d');
    expect(transaction(2).writes).toEqual(['d']);
  });

  test('puts at most 1,000 writes into a transaction', async () => {
    const { write, transaction } = groupCommit();
    write('first', ...Array.from({ length: 1_200 }, (_, index) => String(index)));
    await transaction(0).commit();
    expect(transaction(1).writes).toHaveLength(1_000);
    await transaction(1).commit();
    expect(transaction(2).writes).toHaveLength(200);
  });

  test('rejects the write that failed, and no other of its transaction', async () => {
    const { write, transaction, outcomes } = groupCommit();
    write('a', 'b', 'c', 'd');
    await transaction(0).commit();
    const violation = new Error('CHECK constraint failed');
    await transaction(1).commit({ 1: violation });
    expect(outcomes.get('b')).toBe('B');
    expect(outcomes.get('c')).toBe(violation);
    expect(outcomes.get('d')).toBe('D');
  });

  test('rejects all writes of a transaction that failed, and goes on with the next', async () => {
    const { write, transaction, outcomes } = groupCommit();
    write('a', 'b', 'c');
    await transaction(0).commit();
    write('d');
    const failure = new Error('disk I/O error');
    await transaction(1).fail(failure);
    expect([outcomes.get('b'), outcomes.get('c')]).toEqual([failure, failure]);
    await transaction(2).commit();
    expect(outcomes.get('d')).toBe('D');
  });

  test('rejects a call while 10,000 writes wait', async () => {
    const { write, transaction, outcomes } = groupCommit();
    write('first', ...Array.from({ length: 10_001 }, (_, index) => String(index)));
    await settle();
    expect([...outcomes]).toEqual([['10000', UNAVAILABLE]]);
    await transaction(0).commit();
    write('again');
    await settle();
    expect(outcomes.has('again')).toBe(false);
  });
});

describe('while another process holds the lock', () => {
  test('a transaction is tried again, with the writes that have arrived since', async () => {
    const { write, transactions, transaction, outcomes } = groupCommit();
    write('a');
    await transaction(0).fail(LOCKED);
    write('b');
    expect(transactions).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(20);
    expect(transaction(1).writes).toEqual(['a', 'b']);
    await transaction(1).commit();
    expect([...outcomes.values()]).toEqual(['A', 'B']);
  });

  test('a write waits for 3 seconds; then it is rejected with the cause, and never made', async () => {
    const { write, transactions, outcomes } = groupCommit();
    let tries = 0;
    write('a');
    for (; outcomes.size === 0; tries += 1) {
      // SQLite waits for a tenth of a second itself.
      await vi.advanceTimersByTimeAsync(100);
      await (transactions.at(-1) as Transaction).fail(LOCKED);
      await vi.advanceTimersByTimeAsync(20);
    }
    expect(tries).toBeGreaterThan(20);
    expect(performance.now()).toBeGreaterThanOrEqual(3_000);
    expect(performance.now()).toBeLessThan(3_500);
    expect(outcomes.get('a')).toBe(LOCKED);
    write('b');
    await vi.advanceTimersByTimeAsync(20);
    expect(transactions.at(-1)?.writes).toEqual(['b']);
  });
});

describe('while the disk does not respond', () => {
  test('the calls are rejected within 5 seconds, those that wait and those that are being committed', async () => {
    const { write, transactions, outcomes } = groupCommit();
    write('a', 'b');
    await vi.advanceTimersByTimeAsync(2_000);
    write('c');
    expect(outcomes.size).toBe(0);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(Object.fromEntries(outcomes)).toEqual({ a: UNAVAILABLE, b: UNAVAILABLE });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(outcomes.get('c')).toEqual(UNAVAILABLE);
    expect(transactions).toHaveLength(1);
  });

  test('writes that waited too long are never made, and those after them are', async () => {
    const { write, transactions, transaction, outcomes } = groupCommit();
    write('a', 'b');
    await vi.advanceTimersByTimeAsync(4_500);
    write('c');
    await transaction(0).commit();
    expect(transactions.map(({ writes }) => writes)).toEqual([['a'], ['c']]);
    await transaction(1).commit();
    expect(outcomes.get('c')).toBe('C');
  });
});

describe('closing', () => {
  test('completes the writes that were called before', async () => {
    const { write, close, transaction, outcomes } = groupCommit();
    write('a', 'b');
    let isClosed = false;
    void close().then(() => {
      isClosed = true;
    });
    await transaction(0).commit();
    expect(isClosed).toBe(false);
    await transaction(1).commit();
    expect(isClosed).toBe(true);
    expect([...outcomes.values()]).toEqual(['A', 'B']);
  });

  test('rejects the writes that wait for a lock', async () => {
    const { write, close, transaction, transactions, outcomes } = groupCommit();
    write('a', 'b');
    const closed = close();
    await transaction(0).fail(LOCKED);
    await closed;
    expect([...outcomes.values()]).toEqual([
      expect.objectContaining({ message: 'the storage is closed' }),
      expect.objectContaining({ message: 'the storage is closed' }),
    ]);
    expect(transactions).toHaveLength(1);
  });

  test('ends after a write to which the disk does not respond', async () => {
    const { write, close, transactions, outcomes } = groupCommit();
    write('a', 'b');
    let isClosed = false;
    void close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(4_500);
    expect(outcomes.size).toBe(2);
    expect(isClosed).toBe(true);
    expect(transactions).toHaveLength(1);
  });
});
