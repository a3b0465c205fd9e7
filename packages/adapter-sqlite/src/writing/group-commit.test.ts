import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGroupCommit } from './group-commit.ts';
import type { Committed } from './transaction.ts';

const LOCKED = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
const UNAVAILABLE = expect.objectContaining({ name: 'DomainError', code: 'storage_unavailable' });

/** Lets time pass, and everything happen that needs no time. */
const pass = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds);

function groupCommit() {
  /** The writes of each transaction that has begun. */
  const transactions: (readonly string[])[] = [];
  /** The outcome of each write that is settled. */
  const outcomes: Record<string, unknown> = {};
  let last = Promise.withResolvers<Committed>();
  const { add } = createGroupCommit<string>((writes) => {
    transactions.push(writes);
    last = Promise.withResolvers();
    return last.promise;
  });
  return {
    transactions,
    outcomes,
    write(...writes: string[]) {
      for (const each of writes) {
        const settle = (outcome: unknown) => {
          outcomes[each] = outcome;
        };
        add(each).then(settle, settle);
      }
    },
    /** Commits the last transaction. Each write gets its own name in capitals. */
    async commit() {
      const results = transactions.at(-1)?.map((write) => write.toUpperCase()) ?? [];
      last.resolve({ results, errors: new Map() });
      await pass();
    },
    async fail(error: unknown) {
      last.reject(error);
      await pass();
    },
  };
}

const numbers = (length: number) => Array.from({ length }, (_, index) => String(index));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

// tools/explorer shows that each call gets its own result, that a rejected write is never made, and that a close waits for all.

describe('group commit', () => {
  test('puts at most 1,000 writes into a transaction', async () => {
    const { write, commit, transactions } = groupCommit();
    write('first', ...numbers(1_200));
    await commit();
    await commit();
    expect(transactions.map(({ length }) => length)).toEqual([1, 1_000, 200]);
  });

  test('rejects a call while 10,000 writes wait', async () => {
    const { write, commit, outcomes } = groupCommit();
    write('first', ...numbers(10_001));
    await pass();
    expect(outcomes).toEqual({ 10000: UNAVAILABLE });
    await commit();
    write('again');
    await pass();
    expect(outcomes).not.toHaveProperty('again');
  });
});

describe('while another process holds the lock', () => {
  test('a write waits for 3 seconds; then it is rejected with the cause, and never made', async () => {
    const { write, fail, transactions, outcomes } = groupCommit();
    write('a');
    while (!('a' in outcomes)) {
      // The writer thread replies after a tenth of a second.
      await pass(100);
      await fail(LOCKED);
      await pass(20);
    }
    expect(transactions.length).toBeGreaterThan(20);
    expect(performance.now()).toBeGreaterThanOrEqual(3_000);
    expect(performance.now()).toBeLessThan(3_500);
    expect(outcomes).toEqual({ a: LOCKED });
    write('b');
    await pass(20);
    expect(transactions.at(-1)).toEqual(['b']);
  });
});

describe('while the disk does not respond', () => {
  test('the calls are rejected within 5 seconds, those that wait and those that are being committed', async () => {
    const { write, commit, fail, transactions, outcomes } = groupCommit();
    // An earlier lock is not their cause.
    write('earlier');
    await fail(LOCKED);
    await pass(20);
    await commit();
    write('a', 'b');
    await pass(2_000);
    write('c');
    expect(outcomes).toEqual({ earlier: 'EARLIER' });
    await pass(2_900);
    expect(outcomes).toEqual({ earlier: 'EARLIER', a: UNAVAILABLE, b: UNAVAILABLE });
    await pass(2_000);
    expect(outcomes).toEqual({ earlier: 'EARLIER', a: UNAVAILABLE, b: UNAVAILABLE, c: UNAVAILABLE });
    expect(transactions).toEqual([['earlier'], ['earlier'], ['a']]);
  });
});
