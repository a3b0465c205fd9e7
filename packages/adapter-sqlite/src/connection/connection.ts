import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { closed } from '@animal-store/domain/ports';
import { prepareKeyReads } from '../keys/key-statements.ts';
import { preparePetReads } from '../pets/pet-statements.ts';
import { prepareFormatCheck } from '../schema.ts';
import { TIME_LIMITS } from '../time-limits.ts';
import { createGroupCommit } from '../writing/group-commit.ts';
import type { Write, Writes } from '../writing/transaction.ts';
import { createWriterThread } from '../writing/writer-thread.ts';
import { isBusy, isDamage, isEnvironmental } from './errors.ts';
import { toMisconfigured, toPortError } from './failures.ts';
import { identityOf } from './file-identity.ts';
import { openFile } from './open-file.ts';
import { checkName } from './place.ts';

/** One open file: it is read in this thread and written in another. */
export interface Connection {
  /**
   * Reads, again if another process holds a lock. It sees everything that was acknowledged before.
   *
   * @throws DomainError `storage_unavailable` if the file can't be read.
   */
  read<R>(work: (database: Database) => R): Promise<R>;

  /** Resolves to the result when the write is on the disk. Rejects with DomainError `storage_unavailable` otherwise. */
  write<Name extends keyof Writes>(name: Name, ...args: Parameters<Writes[Name]>): Promise<ReturnType<Writes[Name]>>;

  /** Completes the writes that were called before. May be called twice. */
  close(): Promise<void>;
}

type Database = ReturnType<typeof openDatabase>;

function openDatabase(path: string) {
  const db = openFile(path);
  return {
    pets: preparePetReads(db),
    keys: prepareKeyReads(db),
    identity: identityOf(path),
    checkFormat: prepareFormatCheck(db),
    close: () => db.close(),
  };
}

/** @throws StorageMisconfigured if the operator must do something. A file that can't be opened now is opened later. */
export function openConnection(file: string): Connection {
  const path = resolve(file);
  let database: Database | null = null;
  try {
    checkName(file);
    database = openDatabase(path);
  } catch (error) {
    const misconfigured = toMisconfigured(path, error);
    if (misconfigured !== null) throw misconfigured;
  }
  let closing: Promise<void> | null = null;
  /** Nothing more is written to a damaged file: it would be lost with the next backup that is restored. */
  let damage: unknown = null;
  const thread = createWriterThread(() => ({ path, identity: (database as Database).identity }));
  const writes = createGroupCommit<Write>(thread.commit);

  function toThrown(error: unknown): unknown {
    const thrown = toPortError(path, error);
    if (isDamage(error)) damage ??= thrown;
    return thrown;
  }

  function attempt<R>(work: (database: Database) => R): R {
    if (closing !== null) throw closed();
    database ??= openDatabase(path);
    try {
      return work(database);
    } catch (error) {
      // A newer version may have removed what a statement names.
      if (!isEnvironmental(error)) database.checkFormat();
      throw error;
    }
  }

  async function attemptAgain<R>(work: (database: Database) => R): Promise<R> {
    const end = performance.now() + TIME_LIMITS.read;
    for (;;) {
      await sleep(TIME_LIMITS.retry);
      try {
        return attempt(work);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw toThrown(error);
      }
    }
  }

  async function read<R>(work: (database: Database) => R): Promise<R> {
    try {
      return attempt(work);
    } catch (error) {
      if (!isBusy(error)) throw toThrown(error);
      return attemptAgain(work);
    }
  }

  async function closeAll(): Promise<void> {
    const end = performance.now() + TIME_LIMITS.close;
    await writes.close();
    // The writer's connection is closed last, if there is one: the last one copies the log into the database.
    database?.close();
    await thread.end(Math.max(Math.ceil(end - performance.now()), 0));
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
