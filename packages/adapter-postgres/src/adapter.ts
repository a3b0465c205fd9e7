/** @module @animal-store/adapter-postgres/adapter */

import type { StorageAdapter } from '@animal-store/domain/ports';

/** Storage in PostgreSQL, for applications that choose among adapters. */
export const adapter: StorageAdapter = {
  portsVersion: 1,
  description: 'PostgreSQL',
  variable: { name: 'POSTGRES_URL', example: 'postgres://localhost:5432/animals', secret: true },
  open: async (url) => (await import('./index.ts')).createPostgresStorage({ url }),
  serverTools: 'pg_dump and pg_restore',
};
