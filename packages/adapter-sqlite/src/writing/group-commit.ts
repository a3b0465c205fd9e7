import { closed, overloaded, unavailable } from '@animal-store/domain/ports';
import { isBusy } from '../database/result-codes.ts';
import type { Committed } from './transaction.ts';

/** How long a write may wait for its transaction and for locks, in milliseconds. Then it is never made. */
const WAIT_TIMEOUT = 3_000;

/** How long it may take altogether, in milliseconds. Then it is not known whether it will be committed. */
const WRITE_TIMEOUT = 4_000;

/** The interval of checks for overdue calls, in milliseconds. */
const OVERDUE_INTERVAL = 250;

/** How many writes a transaction has at most. */
const MAX_BATCH = 1_000;

/** How many writes may wait. */
const MAX_WAITING = 10_000;

/** The pause before a batch that met a lock is tried again, in milliseconds. */
const BUSY_PAUSE = 10;

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

  /** Resolves when every write is settled. No write may be added any more. Those that wait for a lock are rejected. */
  close(): Promise<void>;
}

interface Call<W> {
  readonly write: W;
  readonly since: number;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

/**
 * @param commit Commits writes in their order, all of them or, if it rejects, none. It is called again when it has
 * settled.
 */
export function createGroupCommit<W>(commit: (writes: readonly W[]) => Promise<Committed>): GroupCommit<W> {
  let waiting: Call<W>[] = [];
  let inFlight: Call<W>[] = [];
  let running = false;
  let closing = false;
  let onSettled = () => {};
  let lockError: unknown = null;

  async function run(): Promise<void> {
    running = true;
    lockError = null;
    const timer = setInterval(rejectOverdue, OVERDUE_INTERVAL);
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      inFlight = batch;
      try {
        settle(batch, await commit(batch.map(({ write }) => write)));
        lockError = null;
      } catch (error) {
        if (isBusy(error)) await retryLater(error);
        else rejectAll(batch, error);
      }
    }
    inFlight = [];
    clearInterval(timer);
    running = false;
    onSettled();
  }

  async function retryLater(error: unknown): Promise<void> {
    waiting = [...inFlight, ...waiting];
    inFlight = [];
    lockError = error;
    rejectOverdue();
    if (!closing) await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE));
    if (closing) rejectAll(waiting.splice(0), closed());
  }

  function rejectOverdue(): void {
    const now = performance.now();
    const isLate = ({ since }: Call<W>) => now - since >= WAIT_TIMEOUT;
    const isTooLate = ({ since }: Call<W>) => now - since >= WRITE_TIMEOUT;
    rejectAll(waiting.filter(isLate), lockError ?? unavailable(TOO_SLOW));
    rejectAll(inFlight.filter(isTooLate), unavailable(TOO_SLOW));
    waiting = waiting.filter((call) => !isLate(call));
    inFlight = inFlight.filter((call) => !isTooLate(call));
    if (waiting.length + inFlight.length === 0) onSettled();
  }

  return {
    add(write, since = performance.now()) {
      return new Promise((resolve, reject) => {
        if (waiting.length >= MAX_WAITING) {
          reject(overloaded());
          return;
        }
        waiting.push({ write, since, resolve, reject });
        if (!running) void run();
      });
    },

    async close() {
      closing = true;
      if (!running) return;
      await new Promise<void>((resolve) => {
        onSettled = resolve;
      });
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
