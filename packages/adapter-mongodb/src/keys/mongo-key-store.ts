import type { KeyStore } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import type { Connection } from '../connection/connection.ts';
import { isDuplicateKey } from '../connection/failures.ts';
import type { ReadBarrier } from '../connection/read-barrier.ts';
import type { TimeLimits } from '../time-limits.ts';
import { apiKeyOf, BY_AGE, dateOf, type KeyDocument, keyDocument } from './key-document.ts';
import type { KeyLookup } from './key-lookup.ts';

export function createMongoKeyStore(
  connection: Connection<{ keys: Collection<KeyDocument>; findKey: KeyLookup; barrier: ReadBarrier }>,
  limits: TimeLimits,
): KeyStore {
  const bounded = { maxTimeMS: limits.operation };

  return {
    add(key) {
      // Made now: the call may wait for a connection.
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

    recordUse: (id, at) =>
      connection.call(async ({ keys }) => {
        // $max: null is less than every date.
        await keys.updateOne({ _id: id }, { $max: { lastUsedAt: dateOf(at) } }, bounded);
      }),
  };
}
