import type { StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@animal-store/domain';
import type { Awaitable } from '@animal-store/domain/ports';
import { asThrown, isBusy } from './failures.ts';
import { openDatabase, TRY_WRITING } from './open-database.ts';

/** How long a call waits for other processes to finish writing, in milliseconds. */
const BUSY_LIMIT = 3_000;

/** Between two tries of a call that waits, in milliseconds. */
const BUSY_PAUSE = 10;

/** One open file. */
export interface Connection {
  /** To be done once for each statement. Integers are read as bigint. */
  prepare(sql: string): StatementSync;

  /**
   * Does some work on the file: at once, or later where another process is writing. Then the work is started over, so it
   * must be one that can be repeated from its beginning until it succeeds.
   *
   * @throws DomainError `storage_unavailable` for every failure of SQLite.
   */
  call<T>(work: () => T): Awaitable<T>;

  /** @throws DomainError `storage_unavailable` where the file can't be written now. */
  ready(): Awaitable<void>;

  /** May be called twice. */
  close(): void;
}

/** @throws StorageMisconfigured if the file can't be what it has to be. */
export function openConnection(file: string): Connection {
  const db = openDatabase(file);
  const tryWriting = db.prepare(TRY_WRITING);

  function attempt<T>(work: () => T): T {
    if (!db.isOpen) throw new DomainError('storage_unavailable', 'the storage is closed');
    return work();
  }

  async function attemptUntil<T>(end: number, work: () => T): Promise<T> {
    for (;;) {
      await setTimeout(BUSY_PAUSE);
      try {
        return attempt(work);
      } catch (failure) {
        if (!isBusy(failure) || performance.now() >= end) throw asThrown(failure);
      }
    }
  }

  function call<T>(work: () => T): Awaitable<T> {
    try {
      return attempt(work);
    } catch (failure) {
      if (!isBusy(failure)) throw asThrown(failure);
      return attemptUntil(performance.now() + BUSY_LIMIT, work);
    }
  }

  return {
    prepare: (sql) => db.prepare(sql),
    call,
    ready: () => call(() => void tryWriting.run()),
    close() {
      if (db.isOpen) db.close();
    },
  };
}
