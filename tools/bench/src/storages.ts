import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMongo } from './mongodb.ts';

export const STORAGES = ['memory', 'sqlite', 'mongodb'] as const;

export type StorageName = (typeof STORAGES)[number];

/** A storage for a run. */
export interface BenchStorage {
  /** The environment of a server that shares its pets with no other. */
  environment(): NodeJS.ProcessEnv;
  /** Removes all of it. */
  close(): Promise<void>;
}

/** The reason why a storage can't be had here. */
export interface MissingStorage {
  readonly missing: string;
}

export async function openStorage(name: StorageName): Promise<BenchStorage | MissingStorage> {
  switch (name) {
    case 'memory':
      return { environment: () => ({ STORAGE: 'memory' }), close: async () => {} };
    case 'sqlite':
      return openSqlite();
    case 'mongodb':
      return openMongo();
  }
}

function openSqlite(): BenchStorage {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-bench-'));
  let files = 0;
  return {
    environment() {
      files += 1;
      return { STORAGE: 'sqlite', SQLITE_FILE: join(folder, `${files}.db`) };
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function openMongo(): Promise<BenchStorage | MissingStorage> {
  const mongo = await startMongo();
  if ('missing' in mongo) return mongo;
  return {
    environment: () => ({ STORAGE: 'mongodb', MONGODB_URL: mongo.freshDatabase() }),
    close: mongo.stop,
  };
}
