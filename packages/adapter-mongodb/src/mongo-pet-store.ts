import type { MonotonicClock, Pet } from '@animal-store/domain';
import type { IdempotentCreate, PetStore } from '@animal-store/domain/ports';
import { createBatches, MAX_WAITING } from './batches.ts';
import type { Collections } from './collections.ts';
import type { Connection } from './connection.ts';
import { isDuplicateKey } from './failures.ts';
import { createIdBlocks } from './id-blocks.ts';
import { petOf, petWithoutId } from './pet-document.ts';
import { createPetInsertions } from './pet-insertions.ts';
import { createPetReads } from './pet-reads.ts';
import type { TimeLimits } from './time-limits.ts';

/** How often an addition starts over: an id that is taken, or an earlier addition that was rolled back, are rare. */
const TRIES = 3;

export function createMongoPetStore(connection: Connection, limits: TimeLimits, clock: MonotonicClock): PetStore {
  const bounded = { maxTimeMS: limits.operation };

  const ids = createIdBlocks({
    reserve: (count) => connection.call((collections) => reserve(collections, count)),
    clock,
  });
  const insert = createPetInsertions(connection, ids, limits);

  async function reserve({ counters }: Collections, count: number): Promise<bigint> {
    const counter = await counters.findOneAndUpdate(
      { _id: 'pets' },
      { $inc: { last: BigInt(count) } },
      { upsert: true, returnDocument: 'after', ...bounded },
    );
    return (counter as NonNullable<typeof counter>).last;
  }

  /** Moves the counter above every stored animal: it was behind, as after a restore of animals without it. */
  async function raiseCounter({ counters, pets }: Collections): Promise<void> {
    const [highest] = await pets
      .find(
        {},
        { projection: { _id: 1 }, sort: { _id: -1 }, limit: 1, readConcern: { level: 'linearizable' }, ...bounded },
      )
      .toArray();
    await counters.updateOne({ _id: 'pets' }, { $max: { last: highest?._id ?? 0n } }, { upsert: true, ...bounded });
    ids.discard();
  }

  // All animals of a batch meet taken ids at once.
  const raiseCounterTogether = createBatches<void, void>(
    async () => {
      await connection.call(raiseCounter);
      return () => {};
    },
    { parallel: 1, maxItems: MAX_WAITING, maxWaiting: MAX_WAITING, patience: limits.batch },
  );

  /** The animal that was stored under holder and key; undefined if there is none (any more). */
  async function added({ pets }: Collections, { holder, key, fingerprint }: IdempotentCreate) {
    // The one that was met in the index may not have reached the majority yet. Linearizable: it has when this answers.
    const document = await pets.findOne(
      { 'addition.holder': holder, 'addition.key': key },
      { readConcern: { level: 'linearizable' }, ...bounded },
    );
    if (document === null) return undefined;
    return document.addition?.fingerprint === fingerprint ? petOf(document) : null;
  }

  return {
    async add(newPet, addition) {
      const animal = petWithoutId(newPet, addition);
      return connection.call(async (collections): Promise<Pet | null> => {
        for (let tried = 1; ; tried += 1) {
          try {
            return await insert(animal);
          } catch (failure) {
            if (!isDuplicateKey(failure) || tried === TRIES) throw failure;
            // The driver does not say which index refused one of many.
            const earlier = addition && (await added(collections, addition));
            if (earlier !== undefined) return earlier;
            await raiseCounterTogether();
          }
        }
      });
    },

    ...createPetReads(connection, limits),
  };
}
