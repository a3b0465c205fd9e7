import { closed, overloaded, unavailable } from '@animal-store/domain/ports';
import { isBusy } from '../connection/errors.ts';
import { TIME_LIMITS } from '../time-limits.ts';
import type { Committed } from './transaction.ts';

/** Writes in a transaction. */
const MAX_BATCH = 1_000;

const MAX_WAITING = 10_000;

const TOO_SLOW = new Error('the disk takes too long to write');

/** Group commit: writes that arrive while a transaction is being committed are the next transaction. */
export interface GroupCommit<W> {
  /**
   * Resolves to the result of the write once its transaction is committed. Rejects with the error of the write or of its
   * transaction; with DomainError `storage_unavailable` if it takes too long or too many are waiting.
   *
   * @param since When the call was made, by `performance.now()`.
   */
  add(write: W, since?: number): Promise<unknown>;

  /** Resolves when every write is settled. No write may be added any more. Writes that wait for a lock are rejected. */
  close(): Promise<void>;
}

interface Call<W> extends PromiseWithResolvers<unknown> {
  readonly write: W;
  readonly since: number;
}

/** @param commit Commits writes in their order, all of them or, if it rejects, none. It is called again when it has settled. */
export function createGroupCommit<W>(commit: (writes: readonly W[]) => Promise<Committed>): GroupCommit<W> {
  let state: 'idle' | 'running' | 'closing' = 'idle';
  /** Calls that are in no transaction, the oldest first. */
  let waiting: Call<W>[] = [];
  /** Calls whose transaction is being committed. */
  let inFlight: Call<W>[] = [];
  /** The error of the lock that the last transaction met. */
  let lock: unknown = null;

  async function run(): Promise<void> {
    state = 'running';
    const timer = setInterval(rejectOverdue, TIME_LIMITS.overdueCheck);
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      inFlight = batch;
      try {
        settle(batch, await commit(batch.map(({ write }) => write)));
        lock = null;
      } catch (error) {
        if (isBusy(error)) await waitForLock(error);
        else rejectAll(batch, error);
      }
    }
    clearInterval(timer);
    inFlight = [];
    state = 'idle';
  }

  /** The calls of the transaction wait again, before those that came later. */
  async function waitForLock(error: unknown): Promise<void> {
    lock = error;
    waiting = [...inFlight, ...waiting];
    inFlight = [];
    rejectOverdue();
    if (state !== 'closing') await new Promise((resolve) => setTimeout(resolve, TIME_LIMITS.retry));
    if (state === 'closing') rejectAll(waiting.splice(0), closed());
  }

  function rejectOverdue(): void {
    const now = performance.now();
    waiting = rejectOlder(waiting, now - TIME_LIMITS.wait, lock ?? unavailable(TOO_SLOW));
    inFlight = rejectOlder(inFlight, now - TIME_LIMITS.write, unavailable(TOO_SLOW));
  }

  return {
    add(write, since = performance.now()) {
      if (waiting.length >= MAX_WAITING) return Promise.reject(overloaded());
      const call = { ...Promise.withResolvers(), write, since };
      waiting.push(call);
      if (state === 'idle') void run();
      return call.promise;
    },

    async close() {
      if (state === 'idle') return;
      state = 'closing';
      await Promise.allSettled([...inFlight, ...waiting].map(({ promise }) => promise));
    },
  };
}

function settle<W>(batch: readonly Call<W>[], { results, errors }: Committed): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    if (errors.has(index)) reject(errors.get(index));
    else resolve(results[index]);
  }
}

function rejectAll<W>(calls: readonly Call<W>[], reason: unknown): void {
  for (const { reject } of calls) reject(reason);
}

/** Rejects the calls that were made until a time, and returns the others. */
function rejectOlder<W>(calls: readonly Call<W>[], time: number, reason: unknown): Call<W>[] {
  const { older = [], others = [] } = Object.groupBy(calls, ({ since }) => (since <= time ? 'older' : 'others'));
  rejectAll(older, reason);
  return others;
}
