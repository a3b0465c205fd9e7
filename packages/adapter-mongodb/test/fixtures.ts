import type { Storage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { databaseAt, freshDatabase } from '@animal-store/test-servers/mongodb';
import type { CollectionInfo, Document, IndexDescription } from 'mongodb';
import { onTestFinished, vi } from 'vitest';
import { createMongoStorage } from '../src/index.ts';

/** A storage that is closed when the running test ends. */
export function openStorage(url: string): Storage {
  const storage = createMongoStorage({ url });
  onTestFinished(async () => storage.close());
  return storage;
}

/** Waits until a storage is ready: a busy server takes longer to create collections than a call may take. */
export async function isReady(storage: Storage): Promise<Storage> {
  await vi.waitUntil(async () => (await failureOf(storage.ready)) === null, { timeout: 120_000 });
  return storage;
}

/** A new database, in which collections exist. */
export async function freshStorage(options = '') {
  const url = freshDatabase();
  const storage = await isReady(openStorage(`${url}&${options}`));
  return { ...storage, url, db: databaseAt(url) };
}

/** A collection with its schema and its indexes, as mongodump saves it. */
export interface Dump {
  readonly name: string;
  readonly options: Document;
  readonly indexes: readonly IndexDescription[];
  readonly documents: readonly Document[];
}

/** All collections of a database, in the order of their names. */
export async function dumpsOf(url: string): Promise<Dump[]> {
  const db = databaseAt(url);
  const infos: CollectionInfo[] = await db.listCollections({ name: { $not: /^system\./ } }).toArray();
  const dumps = infos.map(async ({ name, options = {} }) => {
    const indexes = (await db.collection(name).indexes()) as IndexDescription[];
    return { name, options, indexes, documents: await db.collection(name).find().toArray() };
  });
  return (await Promise.all(dumps)).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Stores dumps in an empty database, as mongorestore does: collections get new UUIDs. */
export async function restoreDumps(url: string, dumps: readonly Dump[]): Promise<void> {
  for (const { name, options, indexes, documents } of dumps) {
    const collection = await databaseAt(url).createCollection(name, options);
    if (indexes.length > 0) await collection.createIndexes([...indexes]);
    if (documents.length > 0) await collection.insertMany([...documents]);
  }
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** The operations of work on a database, in their order, as the server's profiler reports them. */
export async function profiled(url: string, work: () => Promise<unknown>): Promise<Document[]> {
  const db = databaseAt(url);
  await db.command({ profile: 2 });
  await work();
  await db.command({ profile: 0 });
  return db.collection('system.profile').find({ appName: 'animal-store' }).sort({ ts: 1 }).toArray();
}
