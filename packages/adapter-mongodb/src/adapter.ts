/** @module @animal-store/adapter-mongodb/adapter */

import type { StorageAdapter } from '@animal-store/domain/ports';

/** Storage in MongoDB, for applications that choose among adapters. */
export const adapter: StorageAdapter = {
  portsVersion: 1,
  description: 'MongoDB',
  variable: { name: 'MONGODB_URL', example: 'mongodb://localhost:27017/animals', secret: true },
  open: async (url) => (await import('./index.ts')).createMongoStorage({ url }),
  serverTools: 'mongodump and mongorestore',
};
