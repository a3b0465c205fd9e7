import { currentDeadline, type Resource } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import type { Database } from './connection.ts';
import { requireTime } from './deadline.ts';
import { isDuplicateKey } from './failures.ts';

/** The record of an API key as it is stored. */
export interface KeyDocument extends Omit<ApiKey, 'id' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'> {
  readonly _id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

type Keys = Pick<Database, 'keys' | 'barrier' | 'checkWritable'>;

export function createMongoApiKeyRepository(database: Resource<Keys>): ApiKeyRepository {
  /** Checks the collections before reads, too: a query of the driver names none by its UUID. */
  function call<R>(work: (opened: Keys, bounded: { maxTimeMS: number }) => Promise<R>): Promise<R> {
    return database.call(async (opened) => {
      const deadline = currentDeadline();
      await opened.checkWritable();
      return work(opened, { maxTimeMS: requireTime(deadline) });
    });
  }

  return {
    add: (key) =>
      call(async ({ keys }, bounded) => {
        try {
          await keys.insertOne(documentOf(key), bounded);
        } catch (failure) {
          if (!isDuplicateKey(failure)) throw failure;
        }
      }),

    find: (digest) =>
      call(async ({ keys, barrier }, bounded) => {
        const document = await barrier(() => keys.findOne<ReadKey>({ digest }, { projection: PROJECTION, ...bounded }));
        return document && apiKeyOf(document);
      }),

    list: ({ after, limit }) =>
      call(async ({ keys, barrier }, bounded) => {
        const options = { projection: PROJECTION, sort: { _id: 1 }, limit, ...bounded } as const;
        const documents = await barrier(() => keys.find<ReadKey>({ _id: { $gt: after } }, options).toArray());
        return documents.map(apiKeyOf);
      }),

    revoke: (id, at) =>
      call(async ({ keys }, bounded) => {
        const revokedAt = { $ifNull: ['$revokedAt', new Date(at)] };
        const options = { projection: PROJECTION, returnDocument: 'after', ...bounded } as const;
        const document = await keys.findOneAndUpdate({ _id: id }, [{ $set: { revokedAt } }], options);
        return document && apiKeyOf(document as ReadKey);
      }),

    recordUse: (id, at) =>
      call(async ({ keys }, bounded) => {
        await keys.updateOne({ _id: id }, { $set: { lastUsedAt: new Date(at) } }, bounded);
      }),
  };
}

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

const numberOrNull = (time: unknown) => (time === null ? null : Number(time));

function apiKeyOf({ _id, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest }: ReadKey): ApiKey {
  return {
    id: _id,
    ...rest,
    createdAt: Number(createdAt),
    expiresAt: numberOrNull(expiresAt),
    revokedAt: numberOrNull(revokedAt),
    lastUsedAt: numberOrNull(lastUsedAt),
  };
}
