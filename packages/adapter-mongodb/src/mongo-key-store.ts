import type { KeyStore } from '@animal-store/domain/ports';
import type { Connection } from './connection.ts';
import { isDuplicateKey } from './failures.ts';
import { apiKeyOf, BY_AGE, dateOf, keyDocument } from './key-document.ts';
import type { TimeLimits } from './time-limits.ts';

export function createMongoKeyStore(connection: Connection, limits: TimeLimits): KeyStore {
  const bounded = { maxTimeMS: limits.operation };

  return {
    add: (key) =>
      connection.call(async ({ keys }) => {
        try {
          await keys.insertOne(keyDocument(key), bounded);
        } catch (failure) {
          if (!isDuplicateKey(failure)) throw failure;
        }
      }),

    find: (digest) =>
      connection.read(async ({ keys }) => {
        const document = await keys.findOne({ digest }, bounded);
        return document && apiKeyOf(document);
      }),

    list: () =>
      connection.read(async ({ keys }) => (await keys.find({}, { sort: BY_AGE, ...bounded }).toArray()).map(apiKeyOf)),

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
        // Null is less than every moment.
        await keys.updateOne({ _id: id }, { $max: { lastUsedAt: dateOf(at) } }, bounded);
      }),
  };
}
