import type { Methods } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import { decodeDocument, type KeyDocument, type Query, timeOf } from './documents.ts';
import type { ReadBarrier } from './election/read-barrier.ts';
import { isDuplicateKey } from './failures.ts';
import { createFind } from './find.ts';
import { insertAll } from './insert.ts';
import { checkText, operationTime } from './limits.ts';
import type { Write } from './write.ts';

/** What the methods of keys need of an open database. */
interface Keys {
  readonly collection: Collection<KeyDocument>;
  readonly barrier: ReadBarrier;
  readonly write: Write;
  readonly find: ReturnType<typeof createKeyFind>;
  check(): Promise<void>;
}

type Database = { readonly keys: Keys };

/** Finds keys by their digests. Fails with the driver's errors. */
export const createKeyFind = (query: Query, barrier: ReadBarrier) =>
  createFind<string, ApiKey>('digest', readKey, query, barrier);

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
    checkText('digest', digest);
    return call.connection.keys.find(digest, call);
  },

  async list(call, { after, limit }) {
    checkText('after', after);
    const { collection, barrier, check } = call.connection.keys;
    // A query of the driver does not name the collection by its UUID.
    await check();
    const options = { sort: { _id: 1 }, limit, maxTimeMS: operationTime(call) } as const;
    const find = () => collection.find({ _id: { $gt: after } }, options).toArray();
    return (await barrier(find)).map(apiKeyOf);
  },

  async revoke(call, id, at) {
    checkText('id', id);
    const { collection, write } = call.connection.keys;
    const revokedAt = { $ifNull: ['$revokedAt', new Date(at)] };
    const document = await write(call, (session) => {
      const options = { returnDocument: 'after', maxTimeMS: operationTime(call), session } as const;
      return collection.findOneAndUpdate({ _id: id }, [{ $set: { revokedAt } }], options);
    });
    return document && apiKeyOf(document);
  },

  async recordUse(call, id, at) {
    checkText('id', id);
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

/** A key, or why it can't be read: somebody has changed it by hand. */
function readKey(bytes: Buffer): readonly [string, ApiKey | Error] {
  const document = decodeDocument<KeyDocument>(bytes);
  try {
    return [document.digest, apiKeyOf(document)];
  } catch (error) {
    return [document.digest, error as Error];
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
