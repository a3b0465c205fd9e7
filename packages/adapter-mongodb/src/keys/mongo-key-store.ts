import { createBatches } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { KeyStore } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import type { Connection } from '../connection/connection.ts';
import { isDuplicateKey } from '../connection/failures.ts';
import type { ReadBarrier } from '../connection/read-barrier.ts';
import type { TimeLimits } from '../time-limits.ts';
import { apiKeyOf, BY_AGE, dateOf, type KeyDocument, keyDocument } from './key-document.ts';

export function createMongoKeyStore(
  connection: Connection<{ keys: Collection<KeyDocument>; findKey: KeyLookup; barrier: ReadBarrier }>,
  limits: TimeLimits,
): KeyStore {
  const bounded = { maxTimeMS: limits.operation };

  return {
    add(key) {
      // The document is made now, because the call may wait for a connection.
      const document = keyDocument(key);
      return connection.call(async ({ keys }) => {
        try {
          await keys.insertOne(document, bounded);
        } catch (failure) {
          if (!isDuplicateKey(failure)) throw failure;
        }
      });
    },

    find: (digest) => connection.call(({ findKey }) => findKey(digest)),

    list: () =>
      connection.call(({ keys, barrier }) =>
        barrier(async () => (await keys.find({}, { sort: BY_AGE, ...bounded }).toArray()).map(apiKeyOf)),
      ),

    revoke: (id, at) =>
      connection.call(async ({ keys }) => {
        const document = await keys.findOneAndUpdate(
          { _id: id },
          [{ $set: { revokedAt: { $ifNull: ['$revokedAt', dateOf(at)] } } }],
          { returnDocument: 'after', ...bounded },
        );
        return document && apiKeyOf(document);
      }),

    prune: (before) =>
      connection.call(async ({ keys }) => {
        // null is not less than a date.
        const ended = { $lt: dateOf(before) };
        const { deletedCount } = await keys.deleteMany({ $or: [{ revokedAt: ended }, { expiresAt: ended }] }, bounded);
        return deletedCount;
      }),

    recordUse: (id, at) =>
      connection.call(async ({ keys }) => {
        // $max: null is less than every date.
        await keys.updateOne({ _id: id }, { $max: { lastUsedAt: dateOf(at) } }, bounded);
      }),
  };
}

/** How many keys one query looks up at most: a fraction of a megabyte if all of them exist. */
const MAX_KEYS = 1_000;

/** Finds the record of the key with this digest. Fails with the driver's errors. */
export type KeyLookup = (digest: string) => Promise<ApiKey | null>;

/**
 * Looks up keys by one query at a time: those that come while it is in flight share the next one. Clients can make
 * keys with a valid checksum, so one query for each would let them choose the load of the database.
 */
export function createKeyLookup(
  keys: Collection<KeyDocument>,
  barrier: ReadBarrier,
  { operation, batch }: TimeLimits,
): KeyLookup {
  return createBatches(
    (digests) =>
      barrier(async () => {
        const limit = digests.length;
        const options = { limit, batchSize: limit, singleBatch: true, maxTimeMS: operation };
        const documents = await keys.find({ digest: { $in: [...digests] } }, options).toArray();
        const found = new Map(documents.map((document) => [document.digest, apiKeyOf(document)]));
        return digests.map((digest) => found.get(digest) ?? null);
      }),
    { maxItems: MAX_KEYS, timeout: batch },
  );
}
