/** @module @animal-store/adapter-sqlite */

import { resolve } from 'node:path';
import { type PetStorage, requireText, StorageMisconfigured } from '@animal-store/domain/ports';
import { createArchive } from './archive.ts';
import { openConnection } from './connection.ts';
import { createKeyStore } from './keys.ts';
import { createPetStore, TRY_CREATING } from './pets.ts';

export interface SqliteStorageOptions {
  /** Path on a local disk. The file is created if it doesn't exist; SQLite keeps `-wal` and `-shm` beside it. */
  readonly file: string;
}

/**
 * Storage in one file, for one machine; several processes may have it open. It reads in the caller's thread, and writes in a
 * thread of its own, which keeps the process alive until the storage is closed. Writes that are called meanwhile share one
 * transaction.
 *
 * @throws StorageMisconfigured if the file can't be used; TypeError if an option is no string.
 * @example const storage = await createSqliteStorage({ file: '/var/lib/animals/animals.db' })
 */
export async function createSqliteStorage(options: SqliteStorageOptions): Promise<PetStorage> {
  const file = requireText(options, 'file');
  if (/^(?::memory:$|file:)/.test(file)) {
    throw new StorageMisconfigured(`${file} is a name of SQLite, not a path: for a file of that name write ./${file}`);
  }
  const connection = await openConnection(resolve(file));
  return {
    pets: createPetStore(connection),
    keys: createKeyStore(connection),
    archive: createArchive(connection),
    location: resolve(file),
    async ready() {
      await connection.write(...TRY_CREATING);
    },
    close: connection.close,
    [Symbol.asyncDispose]: connection.close,
  };
}
