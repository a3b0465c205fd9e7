import { type BatchOptions, type Call, createBatches, type Limits, type Methods } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import { type KeyDocument, timeOf } from './documents.ts';
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
    const options = { projection: PROJECTION, ...limits };
    const document = await barrier(() => collection.findOne<ReadKey>({ digest }, options));
    return document && apiKeyOf(document);
  },

  async list(call, { after, limit }) {
    const { collection, barrier, limits } = await checked(call);
    const options = { projection: PROJECTION, sort: { _id: 1 }, limit, ...limits } as const;
    const find = () => collection.find<ReadKey>({ _id: { $gt: after } }, options).toArray();
    return (await barrier(find)).map(apiKeyOf);
  },

  async revoke({ connection: { keys }, deadline }, id, at) {
    const revokedAt = { $ifNull: ['$revokedAt', new Date(at)] };
    const document = await keys.write(deadline, (session) => {
      const limits = { maxTimeMS: requireTime(deadline), session };
      const options = { projection: PROJECTION, returnDocument: 'after', ...limits } as const;
      return keys.collection.findOneAndUpdate({ _id: id }, [{ $set: { revokedAt } }], options);
    });
    return document && apiKeyOf(document as ReadKey);
  },

  recordUse: (call, id, at) => call.connection.keys.recordUse([id, at], call),
};

const TIMES = ['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'] as const;

/** A key as it is read. An int64 is a number, or as the options of the client say. */
type ReadKey = Omit<KeyDocument, (typeof TIMES)[number]> & Readonly<Record<(typeof TIMES)[number], unknown>>;

/**
 * The members of a key, its times in milliseconds: a BSON date may be outside the range of a Date. If validation was bypassed, what
 * is no time becomes 0, so that the key has ended and is listed.
 */
const PROJECTION = {
  ...{ digest: 1, visiblePrefix: 1, holder: 1 },
  ...Object.fromEntries(
    TIMES.map((time) => [time, { $convert: { input: `$${time}`, to: 'long', onNull: null, onError: 0 } }]),
  ),
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

const timeOrNull = (time: unknown) => (time === null ? null : timeOf(Number(time)));

function apiKeyOf({ _id, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest }: ReadKey): ApiKey {
  return {
    id: _id,
    ...rest,
    createdAt: timeOf(Number(createdAt)),
    expiresAt: timeOrNull(expiresAt),
    revokedAt: timeOrNull(revokedAt),
    lastUsedAt: timeOrNull(lastUsedAt),
  };
}
