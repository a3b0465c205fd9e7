import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Awaitable, closed, StorageMisconfigured } from '@animal-store/domain/ports';
import { asOpeningError, asThrown } from './database/failures.ts';
import { type FileIdentity, identityOf } from './database/file-identity.ts';
import { openDatabase } from './database/open-database.ts';
import { isBusy, isDamage, isEnvironmental } from './database/result-codes.ts';
import { prepareFormatCheck } from './database/schema.ts';
import { type KeyReads, prepareKeyReads } from './keys/key-statements.ts';
import { type PetReads, preparePetReads } from './pets/pet-statements.ts';
import { createGroupCommit } from './writing/group-commit.ts';
import { createWriterThread } from './writing/writer-thread.ts';
import type { Write, Writes } from './writing/writes.ts';

/** How long a read waits for a lock, in milliseconds. */
const READ_TIMEOUT = 3_000;

/** How long closing takes at most, in milliseconds, however slow the disk is: less than 5 seconds. */
const CLOSE_TIMEOUT = 4_800;

/** Between two tries of a read that waits, in milliseconds. */
const BUSY_PAUSE = 10;

/** What is read in this thread. */
export interface Reads {
  readonly pets: PetReads;
  readonly keys: KeyReads;
}

/** One open file: it is read in this thread and written in another. */
export interface Connection {
  /**
   * Reads at once, or later if another process holds a lock. It sees everything that was acknowledged before.
   *
   * @throws DomainError `storage_unavailable` if the file can't be read.
   */
  read<T>(work: (reads: Reads) => T): Awaitable<T>;

  /** Resolves to the result when the write is on the disk. Rejects with DomainError `storage_unavailable` otherwise. */
  write<Name extends keyof Writes>(name: Name, ...args: Parameters<Writes[Name]>): Promise<ReturnType<Writes[Name]>>;

  /** Completes the writes that were called before. May be called twice. */
  close(): Promise<void>;
}

interface Reader extends Reads {
  readonly db: DatabaseSync;
  readonly identity: FileIdentity;
  readonly checkFormat: () => void;
}

/** @throws StorageMisconfigured if the operator must do something. A file that can't be opened now is opened later. */
export function openConnection(file: string): Connection {
  // An absolute path is neither a URI nor one of the names that stand for a database in memory.
  const path = resolve(file);
  let reader = openIfPossible(path);
  let closing: Promise<void> | null = null;
  /** Nothing more is written to a damaged file: it would be lost with the next backup that is restored. */
  let damage: unknown = null;
  const thread = createWriterThread(() => ({ path, identity: (reader as Reader).identity }));
  const writes = createGroupCommit<Write>(thread.commit);

  function toThrown(error: unknown): unknown {
    const thrown = asThrown(path, error);
    if (isDamage(error)) damage ??= thrown;
    return thrown;
  }

  function attempt<T>(work: (reads: Reads) => T): T {
    if (closing !== null) throw closed();
    reader ??= open(path);
    try {
      return work(reader);
    } catch (error) {
      // A newer version may have removed what a statement names.
      if (!isEnvironmental(error)) reader.checkFormat();
      throw error;
    }
  }

  async function attemptUntil<T>(end: number, work: (reads: Reads) => T): Promise<T> {
    for (;;) {
      await new Promise((resume) => setTimeout(resume, BUSY_PAUSE));
      try {
        return attempt(work);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw toThrown(error);
      }
    }
  }

  function read<T>(work: (reads: Reads) => T): Awaitable<T> {
    try {
      return attempt(work);
    } catch (error) {
      if (!isBusy(error)) throw toThrown(error);
      return attemptUntil(performance.now() + READ_TIMEOUT, work);
    }
  }

  async function closeAll(): Promise<void> {
    const end = performance.now() + CLOSE_TIMEOUT;
    await writes.close();
    // Not the last connection, unless there was no write: the last one copies the log into the database.
    reader?.db.close();
    await thread.end(Math.max(end - performance.now(), 0));
  }

  return {
    read,

    async write(...write) {
      const since = performance.now();
      // The writer works on a file that was opened and has the current schema.
      if (reader === null || closing !== null) await read(() => {});
      if (damage !== null) throw damage;
      try {
        return (await writes.add(write as unknown as Write, since)) as never;
      } catch (error) {
        throw toThrown(error);
      }
    },

    close() {
      if (closing !== null) return closing;
      closing = closeAll();
      return closing;
    },
  };
}

/** @returns null if the file can't be opened now, because it is locked or the disk is full. */
function openIfPossible(path: string): Reader | null {
  try {
    return open(path);
  } catch (error) {
    if (StorageMisconfigured.is(error)) throw error;
    return null;
  }
}

function open(path: string): Reader {
  try {
    const db = openDatabase(path);
    return {
      db,
      identity: identityOf(path),
      checkFormat: prepareFormatCheck(db),
      pets: preparePetReads(db),
      keys: prepareKeyReads(db),
    };
  } catch (error) {
    throw asOpeningError(path, error);
  }
}
