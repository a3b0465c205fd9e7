import { isDeepStrictEqual } from 'node:util';
import { otherDatabase } from '@animal-store/adapter-kit';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import type { Db, Document, IndexDescription } from 'mongodb';
import { repeated } from './documents.ts';
import { type CollectionIds, INDEXES, readCollections, requireAll } from './schema.ts';

/** How long the result of a check is valid, in milliseconds. */
const TTL = 1_000;

/** A check of the collections, which rejects with StorageMisconfigured. Its latest result can be shared. */
export function createCheck(db: Db, known: CollectionIds) {
  let latest = Promise.resolve();
  let expiresAt = 0;

  async function run(): Promise<void> {
    try {
      await checkCollections(db, known);
    } catch (failure) {
      expiresAt = 0;
      throw failure;
    }
  }

  function now(): Promise<void> {
    expiresAt = performance.now() + TTL;
    latest = run();
    return latest;
  }

  return {
    now,
    /** The latest check, which may still run, if it has not failed and began less than a second ago; otherwise a new one. */
    recent: () => (performance.now() < expiresAt ? latest : now()),
  };
}

async function checkCollections(db: Db, known: CollectionIds): Promise<void> {
  const stored = await readCollections(db);
  requireAll(stored);
  for (const [name, id] of known) if (!stored.get(name)?.equals(id)) throw otherDatabase();
  await Promise.all(Object.entries(INDEXES).map(([name, indexes]) => checkIndexes(db, name, indexes)));
}

async function checkIndexes(db: Db, name: string, indexes: readonly IndexDescription[]): Promise<void> {
  const stored = await db.collection(name).indexes();
  for (const { key, unique } of indexes) {
    const isStored = stored.some(
      (index) => isDeepStrictEqual(index.key, key) && index.unique === unique && index.hidden !== true,
    );
    const line = `an index is missing, that of ${name} by ${Object.keys(key).join(', ')}: restart the process to create it`;
    if (!isStored) throw new StorageMisconfigured(line);
  }
}

/** Throws StorageMisconfigured if the user may not write. A user without `find` can't get here. */
export async function checkPrivileges(db: Db): Promise<void> {
  const { authInfo } = await repeated(() => db.command({ connectionStatus: 1, showPrivileges: true }));
  const actions = authInfo.authenticatedUserPrivileges.flatMap(({ resource, actions }: Document) =>
    resource.anyResource || ['', db.databaseName].includes(resource.db) ? actions : [],
  );
  const missing = ['insert', 'update'].find((action) => !actions.includes(action));
  // A server without access control has no users.
  if (missing === undefined || authInfo.authenticatedUsers.length === 0) return;
  throw new StorageMisconfigured(`the user lacks the privilege ${missing}: grant the role readWrite on the database`);
}
