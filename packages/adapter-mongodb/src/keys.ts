import { type BatchOptions, type Call, createBatches, type Limits, type Methods } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import type { KeyDocument } from './documents.ts';
import type { ReadBarrier } from './election/read-barrier.ts';
import { isDuplicateKey } from './failures.ts';
import { insertAll, MAX_INSERTED } from './insert.ts';
import { requireTime, TIME_LIMITS } from './limits.ts';
import type { Write } from './write.ts';

/** What the methods of keys need of an open database. */
interface Keys extends ReturnType<typeof createKeyWrites> {
  readonly collection: Collection<KeyDocument>;
  readonly barrier: ReadBarrier;
  readonly write: Write;
  check(): Promise<void>;
}

/** What was used, and when. */
type Use = readonly [id: string, at: number];

/** Additions and uses. All that come while a write is in flight share the next one: each alone would take a connection. */
export function createKeyWrites(collection: Collection<KeyDocument>, write: Write) {
  const options: BatchOptions = { maxItems: MAX_INSERTED, timeout: TIME_LIMITS.batch };

  /** Ignores records that are stored. */
  const add = (documents: readonly KeyDocument[], { deadline }: Limits) =>
    write(deadline, async (session) => {
      const errors = await insertAll(collection, documents, deadline, session);
      return documents.map((document) => {
        const error = errors.get(document);
        return isDuplicateKey(error) ? undefined : error;
      });
    });

  const recordUse = (uses: readonly Use[], { deadline }: Limits) =>
    write(deadline, async (session) => {
      const updates = uses.map(([_id, at]) => ({
        updateOne: { filter: { _id }, update: { $set: { lastUsedAt: new Date(at) } } },
      }));
      await collection.bulkWrite(updates, { maxTimeMS: requireTime(deadline), session });
      return uses.map(() => undefined);
    });

  return {
    add: createBatches<KeyDocument, undefined>(add, options),
    recordUse: createBatches<Use, undefined>(recordUse, options),
  };
}

type Database = { readonly keys: Keys };

/** Checks the collections: a query of the driver names none by its UUID. Returns the time limit of the read. */
async function checked({ connection: { keys }, deadline }: Call<Database>) {
  await keys.check();
  return { ...keys, limits: { maxTimeMS: requireTime(deadline) } };
}

export const keys: Methods<ApiKeyRepository, Database> = {
  async add(call, key) {
    await call.connection.keys.add(documentOf(key), call);
  },

  async find(call, digest) {
    const { collection, barrier, limits } = await checked(call);
    const document = await barrier(() => collection.findOne({ digest }, limits));
    return document && apiKeyOf(document);
  },

  async list(call, { after, limit }) {
    const { collection, barrier, limits } = await checked(call);
    const options = { sort: { _id: 1 }, limit, ...limits } as const;
    const find = () => collection.find({ _id: { $gt: after } }, options).toArray();
    return (await barrier(find)).map(apiKeyOf);
  },

  async revoke({ connection: { keys }, deadline }, id, at) {
    const revokedAt = { $ifNull: ['$revokedAt', new Date(at)] };
    const document = await keys.write(deadline, (session) => {
      const options = { returnDocument: 'after', maxTimeMS: requireTime(deadline), session } as const;
      return keys.collection.findOneAndUpdate({ _id: id }, [{ $set: { revokedAt } }], options);
    });
    return document && apiKeyOf(document);
  },

  recordUse: (call, id, at) => call.connection.keys.recordUse([id, at], call),
};

const dateOrNull = (timestamp: number | null) => (timestamp === null ? null : new Date(timestamp));

function documentOf({ id, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest }: ApiKey): KeyDocument {
  return {
    _id: id,
    ...rest,
    createdAt: new Date(createdAt),
    expiresAt: dateOrNull(expiresAt),
    revokedAt: dateOrNull(revokedAt),
    lastUsedAt: dateOrNull(lastUsedAt),
  };
}

const timeOrNull = (date: Date | null) => (date === null ? null : date.getTime());

function apiKeyOf({ _id, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest }: KeyDocument): ApiKey {
  return {
    id: _id,
    ...rest,
    createdAt: createdAt.getTime(),
    expiresAt: timeOrNull(expiresAt),
    revokedAt: timeOrNull(revokedAt),
    lastUsedAt: timeOrNull(lastUsedAt),
  };
}
