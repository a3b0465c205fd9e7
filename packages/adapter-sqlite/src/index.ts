import { resolve } from 'node:path';
import type { PetStorage, StorageAdapter } from '@animal-store/domain/ports';
import { openConnection } from './connection.ts';
import { createSqliteKeyStore } from './sqlite-key-store.ts';
import { createSqlitePetStore } from './sqlite-pet-store.ts';

export interface SqliteStorageOptions {
  /** Path of the database, made where there is none; SQLite keeps `-wal` and `-shm` beside it. On a local disk. */
  readonly file: string;
}

/**
 * Storage in one file, for one machine; several processes may have it open. It answers without promises, and blocks the
 * process while the disk writes. Only where another process is writing does it answer with a promise.
 *
 * @throws StorageMisconfigured if the file can't be what it has to be.
 * @example const storage = createSqliteStorage({ file: '/var/lib/animals/animals.db' })
 */
export function createSqliteStorage({ file }: SqliteStorageOptions): PetStorage {
  const connection = openConnection(file);
  return {
    pets: createSqlitePetStore(connection),
    keys: createSqliteKeyStore(connection),
    location: resolve(file),
    ready: () => connection.ready(),
    close: () => connection.close(),
    [Symbol.asyncDispose]: async () => connection.close(),
  };
}

/** Storage in one file, for applications that choose among adapters. Its setting is the file's path. */
export const adapter: StorageAdapter = {
  keeps: 'in a SQLite file',
  reusesPets: false,
  open: (file) => createSqliteStorage({ file }),
};
