/** @module @animal-store/adapter-sqlite */

import { existsSync } from 'node:fs';
import { type Call, createStorage } from '@animal-store/adapter-kit';
import { type Storage, unavailable } from '@animal-store/domain/ports';
import { archive } from './archive.ts';
import { isRejection, kindOf } from './failures.ts';
import { pathOf, realPathOf, requireFile } from './file.ts';
import { keys } from './keys.ts';
import { createOpening, type File, openAtStart, write } from './open.ts';
import { pets, TRY_CREATING } from './pets.ts';

export interface SqliteStorageOptions {
  /** Path on a local disk. SQLite keeps `-wal` and `-shm` beside the file. */
  readonly file: string;
  /**
   * Whether a file that doesn't exist is created. false also lets the thread start with the first write.
   *
   * @default true
   */
  readonly create?: boolean;
}

/**
 * Storage in one file, for one machine; several processes may have it open. It reads in the caller's thread, and writes in a
 * thread of its own, which keeps the process alive until the storage is closed, and while the disk doesn't respond to a write:
 * then only a signal ends the process. Writes that are called during a commit share the next transaction.
 *
 * @throws StorageMisconfigured if the file can't be used; TypeError if it has no name.
 * @example const storage = await createSqliteStorage({ file: '/var/lib/animals/animals.db' })
 */
export async function createSqliteStorage({ file, create = true }: SqliteStorageOptions): Promise<Storage> {
  const path = pathOf(file);
  if (!(create || existsSync(path))) requireFile(path);
  const opening = createOpening(path);
  const opened = await openAtStart(opening, create);
  return createStorage({ ...opening, pets, keys, archive, ready, location: realPathOf(path) }, opened);
}

async function ready(call: Call<File>): Promise<void> {
  try {
    await write(call, ...TRY_CREATING);
  } catch (error) {
    // No id is left, or something of an administrator rejects every pet.
    throw isRejection(error) && !kindOf(error).isDamage ? unavailable(error) : error;
  }
}
