import { type Call, createBatches, type Limits, type Methods } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import { decodeDocument, type KeyDocument, type Query, timeOf } from './documents.ts';
import type { ReadBarrier } from './election/read-barrier.ts';
import { isDuplicateKey } from './failures.ts';
import { insertAll } from './insert.ts';
import { checkText, operationTime, TIME_LIMITS } from './limits.ts';
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
  async function findAll(digests: readonly string[], limits: Limits): Promise<(ApiKey | Error | null)[]> {
    const [only, ...more] = new Set(digests);
    const digest = more.length === 0 ? only : { $in: [only, ...more] };
    const found = (await query(1 + more.length, { filter: { digest } }, limits)).map(decodeDocument<KeyDocument>);
    const byDigest = new Map(found.map((key) => [key.digest, readable(key)]));
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
  return { ...keys, limits: { maxTimeMS: operationTime(call) } };
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
    checkText(digest);
    return call.connection.keys.find(digest, call);
  },

  async list(call, { after, limit }) {
    checkText(after);
    const { collection, barrier, limits } = await checked(call);
    const options = { sort: { _id: 1 }, limit, ...limits } as const;
    const find = () => collection.find({ _id: { $gt: after } }, options).toArray();
    return (await barrier(find)).map(apiKeyOf);
  },

  async revoke(call, id, at) {
    checkText(id);
    const { collection, write } = call.connection.keys;
    const revokedAt = { $ifNull: ['$revokedAt', new Date(at)] };
    const document = await write(call, (session) => {
      const options = { returnDocument: 'after', maxTimeMS: operationTime(call), session } as const;
      return collection.findOneAndUpdate({ _id: id }, [{ $set: { revokedAt } }], options);
    });
    return document && apiKeyOf(document);
  },

  async recordUse(call, id, at) {
    checkText(id);
    const { collection, write } = call.connection.keys;
    await write(call, (session) => {
      const options = { maxTimeMS: operationTime(call), session };
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

/** A key, or why it can't be read: it was changed by hand, and its callers alone learn that. */
function readable(document: KeyDocument): ApiKey | Error {
  try {
    return apiKeyOf(document);
  } catch (error) {
    return error as Error;
  }
}

const timeOrNull = (date: Date | null) => (date === null ? null : timeOf(date));

function apiKeyOf({ _id, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest }: KeyDocument): ApiKey {
  return {
    id: _id,
    ...rest,
    createdAt: timeOf(createdAt),
    expiresAt: timeOrNull(expiresAt),
    revokedAt: timeOrNull(revokedAt),
    lastUsedAt: timeOrNull(lastUsedAt),
  };
}
