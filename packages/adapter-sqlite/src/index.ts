/** @module @animal-store/adapter-sqlite */

import { resolve } from 'node:path';
import type { PetStorage } from '@animal-store/domain/ports';
import { openConnection } from './connection/connection.ts';
import { createSqliteKeyStore } from './keys/sqlite-key-store.ts';
import { createSqlitePetStore } from './pets/sqlite-pet-store.ts';

export interface SqliteStorageOptions {
  /** Path on a local disk. The file is created if it doesn't exist; SQLite keeps `-wal` and `-shm` beside it. */
  readonly file: string;
}

/**
 * Storage in one file, for one machine; several processes may have it open. It reads in the caller's thread, and writes in a thread of its own: writes that are called meanwhile
 * share one transaction.
 *
 * @throws StorageMisconfigured if the file can't be used.
 * @example const storage = createSqliteStorage({ file: '/var/lib/animals/animals.db' })
 */
export function createSqliteStorage({ file }: SqliteStorageOptions): PetStorage {
  const connection = openConnection(file);
  return {
    pets: createSqlitePetStore(connection),
    keys: createSqliteKeyStore(connection),
    location: resolve(file),
    ready: () => connection.write('tryCreating'),
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
