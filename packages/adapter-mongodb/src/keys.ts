import { type Call, createBatches, type Limits, type Methods } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import { decodeDocument, type KeyDocument, type Query } from './documents.ts';
import type { ReadBarrier } from './election/read-barrier.ts';
import { isDuplicateKey } from './failures.ts';
import { insertAll } from './insert.ts';
import { checkType, requireTime, TIME_LIMITS } from './limits.ts';
import type { Write } from './write.ts';

/** How many keys one query looks up at most: up to a megabyte. */
const MAX_DIGESTS = 1_000;

/** What the methods of keys need of an open database. */
interface Keys {
  readonly collection: Collection<KeyDocument>;
  readonly barrier: ReadBarrier;
  readonly write: Write;
  readonly find: ReturnType<typeof createFind>;
  check(): Promise<void>;
}

type Database = { readonly keys: Keys };

/** Combines the calls that find keys. Fails with the driver's errors. */
export function createFind(query: Query, barrier: ReadBarrier) {
  async function findAll(digests: readonly string[], limits: Limits): Promise<(ApiKey | null)[]> {
    const [only, ...more] = new Set(digests);
    const digest = more.length === 0 ? only : { $in: [only, ...more] };
    const found = (await query(1 + more.length, { filter: { digest } }, limits)).map(decodeDocument<KeyDocument>);
    const byDigest = new Map(found.map((key) => [key.digest, apiKeyOf(key)]));
    return digests.map((digest) => byDigest.get(digest) ?? null);
  }

  return createBatches<string, ApiKey | null>((digests, limits) => barrier(() => findAll(digests, limits)), {
    maxItems: MAX_DIGESTS,
    maxWait: TIME_LIMITS.batch,
  });
}

/** Checks the collections: a query of the driver names none by its UUID. Returns the time limit of the read. */
async function checked(call: Call<Database>) {
  const { keys } = call.connection;
  await keys.check();
  return { ...keys, limits: { maxTimeMS: requireTime(call) } };
}

export const keys: Methods<ApiKeyRepository, Database> = {
  async add(call, key) {
    const { collection, write } = call.connection.keys;
    const document = documentOf(key);
    const errors = await write(call, (session) => insertAll(collection, [document], call, session));
    const error = errors.get(document);
    // It is stored.
    if (error !== undefined && !isDuplicateKey(error)) throw error;
  },

  find(call, digest) {
    checkType('string', digest);
    return call.connection.keys.find(digest, call);
  },

  async list(call, { after, limit }) {
    const { collection, barrier, limits } = await checked(call);
    const options = { sort: { _id: 1 }, limit, ...limits } as const;
    const find = () => collection.find({ _id: { $gt: after } }, options).toArray();
    return (await barrier(find)).map(apiKeyOf);
  },

  async revoke(call, id, at) {
    const { collection, write } = call.connection.keys;
    const revokedAt = { $ifNull: ['$revokedAt', new Date(at)] };
    const document = await write(call, (session) => {
      const options = { returnDocument: 'after', maxTimeMS: requireTime(call), session } as const;
      return collection.findOneAndUpdate({ _id: id }, [{ $set: { revokedAt } }], options);
    });
    return document && apiKeyOf(document);
  },

  async recordUse(call, id, at) {
    const { collection, write } = call.connection.keys;
    await write(call, (session) => {
      const options = { maxTimeMS: requireTime(call), session };
      return collection.updateOne({ _id: id }, { $set: { lastUsedAt: new Date(at) } }, options);
    });
  },
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
