import type { ApiKey } from '@animal-store/domain';
import type { Collection } from 'mongodb';
import { createBatches, MAX_WAITING } from '../batching/batches.ts';
import type { ReadBarrier } from '../connection/read-barrier.ts';
import type { TimeLimits } from '../time-limits.ts';
import { apiKeyOf, type KeyDocument } from './key-document.ts';

/** How many keys one query looks up at most: a fraction of a megabyte if all of them exist. */
const MAX_KEYS = 1_000;

/** Finds the record of the key with this digest. Fails with the driver's errors. */
export type KeyLookup = (digest: string) => Promise<ApiKey | null>;

/**
 * Looks up keys by one query at a time: those that come while it is in flight share the next one. Anybody can make keys
 * whose checksum is right, so one query for each would let anybody choose the load of the database.
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
        return (digest) => found.get(digest) ?? null;
      }),
    { parallel: 1, maxItems: MAX_KEYS, maxWaiting: MAX_WAITING, maxWait: batch },
  );
}
