import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMongo } from './mongodb.ts';
import type { OpenStorage } from './open-storage.ts';
import { peer } from './peers.ts';
import { pocketBase } from './pocketbase.ts';
import { openPostgres } from './postgres.ts';
import { notMeasured } from './progress.ts';
import type { Contender } from './server.ts';
import { jsonServerApi } from './workloads.ts';

/** A storage of the service, and the servers that store pets in the same way. */
export interface Storage {
  /** For tables and charts. */
  readonly title: string;
  open(): OpenStorage | Promise<OpenStorage | { readonly missing: string }>;
  /** The ratios are those to the first one. It is the only one in a quick run. */
  readonly peers: readonly [Contender, ...Contender[]];
  /** Numbers of pets while the catalogue grows. */
  readonly sizes: readonly number[];
}

/** The limit of every server of Node.js. */
const FLOOR = peer('prepared bytes', 'node-http');
const TO_TEN_MILLIONS = [10_000, 100_000, 1_000_000, 10_000_000];

export const STORAGES = {
  memory: {
    title: 'in memory',
    open: () => ({ environment: () => ({ STORAGE: 'memory' }), close: async () => {} }),
    peers: [
      peer('Fastify', 'fastify'),
      FLOOR,
      peer('Fastify, equipped', 'fastify', { environment: { EQUIPPED: 'yes' } }),
      peer('Hono', 'hono'),
      peer('Express', 'express'),
    ],
    sizes: [10_000, 100_000, 1_000_000, 5_000_000],
  },
  sqlite: {
    title: 'in a file',
    open: openFolder,
    peers: [pocketBase, peer('json-server', 'json-server', { api: jsonServerApi })],
    sizes: TO_TEN_MILLIONS,
  },
  mongodb: {
    title: 'on MongoDB',
    open: openMongo,
    peers: [
      peer('Fastify + driver', 'fastify'),
      FLOOR,
      peer('Fastify, equipped', 'fastify', { environment: { EQUIPPED: 'yes' } }),
      peer('Express + Mongoose', 'express-mongoose'),
      peer('NestJS + Mongoose', 'nest-mongoose'),
    ],
    sizes: TO_TEN_MILLIONS,
  },
  postgres: {
    title: 'on PostgreSQL',
    open: openPostgres,
    peers: [
      peer('Fastify + pg', 'fastify'),
      FLOOR,
      peer('Fastify, equipped', 'fastify', { environment: { EQUIPPED: 'yes' } }),
    ],
    sizes: TO_TEN_MILLIONS,
  },
} satisfies Record<string, Storage>;

export type StorageName = keyof typeof STORAGES;

function openFolder(): OpenStorage {
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

/** Opens storages one after the other, all by default, and closes them. */
export async function eachStorage(
  names: readonly StorageName[] = Object.keys(STORAGES) as StorageName[],
  use: (name: StorageName, storage: Storage, open: OpenStorage) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    const storage: Storage = STORAGES[name];
    const opened = await storage.open();
    if ('missing' in opened) {
      notMeasured(storage.title, opened.missing);
      continue;
    }
    try {
      await use(name, storage, opened);
    } finally {
      await opened.close();
    }
  }
}
