/** @module @animal-store/adapter-sqlite/adapter */

import type { StorageAdapter } from '@animal-store/domain/ports';

/** Storage in one file, for applications that choose among adapters. */
export const adapter: StorageAdapter = {
  portsVersion: 1,
  description: 'a SQLite file',
  variable: { name: 'SQLITE_FILE', example: '/var/lib/animal-store/animals.db', secret: false },
  open: async (file, options) => (await import('./index.ts')).createSqliteStorage({ file, ...options }),
  backup: async (file) => (await import('./backup.ts')).backupFile(file),
  restore: async (file, ...given) => (await import('./restore.ts')).restoreFile(file, ...given),
};
