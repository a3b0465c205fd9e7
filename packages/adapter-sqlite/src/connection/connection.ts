import { resolve } from 'node:path';
import { type Awaitable, closed, StorageMisconfigured } from '@animal-store/domain/ports';
import { TIME_LIMITS } from '../time-limits.ts';
import { createGroupCommit } from '../writing/group-commit.ts';
import type { Write, Writes } from '../writing/transaction.ts';
import { createWriterThread } from '../writing/writer-thread.ts';
import { isBusy, isDamage, isEnvironmental } from './errors.ts';
import { toOpenError, toPortError } from './failures.ts';
import type { FileIdentity } from './file-identity.ts';
import { checkName } from './place.ts';

/** One open file: it is read in this thread and written in another. */
export interface Connection<T> {
  /**
   * Reads at once, or later if another process holds a lock. It sees everything that was acknowledged before.
   *
   * @throws DomainError `storage_unavailable` if the file can't be read.
   */
  read<R>(work: (database: T) => R): Awaitable<R>;

  /** Resolves to the result when the write is on the disk. Rejects with DomainError `storage_unavailable` otherwise. */
  write<Name extends keyof Writes>(name: Name, ...args: Parameters<Writes[Name]>): Promise<ReturnType<Writes[Name]>>;

  /** Completes the writes that were called before. May be called twice. */
  close(): Promise<void>;
}

/** What a connection needs of an open database. */
interface Opened {
  readonly identity: FileIdentity;
  readonly checkFormat: () => void;
  close(): void;
}

/**
 * @param open Opens what calls read, at an absolute path.
 * @throws StorageMisconfigured if the operator must do something. A file that can't be opened now is opened later.
 */
export function openConnection<T extends Opened>(file: string, open: (path: string) => T): Connection<T> {
  const path = resolve(file);
  let database = openIfPossible();
  let closing: Promise<void> | null = null;
  /** Nothing more is written to a damaged file: it would be lost with the next backup that is restored. */
  let damage: unknown = null;
  const thread = createWriterThread(() => ({ path, identity: (database as T).identity }));
  const writes = createGroupCommit<Write>(thread.commit);

  function openNow(): T {
    try {
      checkName(file);
      return open(path);
    } catch (error) {
      throw toOpenError(path, error);
    }
  }

  /** @returns null if the file can't be opened now, because it is locked or the disk is full. */
  function openIfPossible(): T | null {
    try {
      return openNow();
    } catch (error) {
      if (StorageMisconfigured.is(error)) throw error;
      return null;
    }
  }

  function toThrown(error: unknown): unknown {
    const thrown = toPortError(path, error);
    if (isDamage(error)) damage ??= thrown;
    return thrown;
  }

  function attempt<R>(work: (database: T) => R): R {
    if (closing !== null) throw closed();
    database ??= openNow();
    try {
      return work(database);
    } catch (error) {
      // A newer version may have removed what a statement names.
      if (!isEnvironmental(error)) database.checkFormat();
      throw error;
    }
  }

  async function attemptUntil<R>(end: number, work: (database: T) => R): Promise<R> {
    for (;;) {
      await new Promise((resume) => setTimeout(resume, TIME_LIMITS.retry));
      try {
        return attempt(work);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw toThrown(error);
      }
    }
  }

  function read<R>(work: (database: T) => R): Awaitable<R> {
    try {
      return attempt(work);
    } catch (error) {
      if (!isBusy(error)) throw toThrown(error);
      return attemptUntil(performance.now() + TIME_LIMITS.read, work);
    }
  }

  async function closeAll(): Promise<void> {
    const end = performance.now() + TIME_LIMITS.close;
    await writes.close();
    // Not the last connection, unless there was no write: the last one copies the log into the database.
    database?.close();
    await thread.end(Math.max(end - performance.now(), 0));
  }

  return {
    read,

    async write(...write) {
      const since = performance.now();
      // The writer works on a file that was opened and has a known format.
      if (database === null || closing !== null) await read(() => {});
      if (damage !== null) throw damage;
      try {
        return (await writes.add(write as unknown as Write, since)) as never;
      } catch (error) {
        throw toThrown(error);
      }
    },

    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}
