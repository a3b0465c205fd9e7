import {
  type Clock,
  type IdempotentAddition,
  type NewPet,
  PET_ID_MAX,
  PET_ID_MIN,
  type Pet,
  type PetStore,
} from '@animal-store/domain';
import type { Collections } from './collections.ts';
import type { Connection } from './connection.ts';
import { duplicatedFields } from './failures.ts';
import { createIdBlocks } from './id-blocks.ts';
import { BY_STATUS, petDocument, petOf } from './pet-document.ts';
import type { TimeLimits } from './time-limits.ts';

/** The members of a document that make a Pet. */
const PET_MEMBERS = { name: 1, categoryId: 1, status: 1 } as const;

/** How often an addition starts over: an id that is taken, or an earlier addition that was rolled back, are rare. */
const TRIES = 3;

export function createMongoPetStore(connection: Connection, limits: TimeLimits, clock: Clock): PetStore {
  const bounded = { maxTimeMS: limits.operation };

  const ids = createIdBlocks({
    reserve: (count) => connection.call((collections) => reserve(collections, count)),
    clock,
  });

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
      .find({}, { projection: { _id: 1 }, sort: { _id: -1 }, limit: 1, ...bounded })
      .toArray();
    await counters.updateOne({ _id: 'pets' }, { $max: { last: highest?._id ?? 0n } }, { upsert: true, ...bounded });
    ids.discard();
  }

  /** The animal that was stored under holder and key; undefined if there is none (any more). */
  async function added({ pets }: Collections, { holder, key, fingerprint }: IdempotentAddition) {
    // The one that was met in the index may not have reached the majority yet. Linearizable: it has when this answers.
    const document = await pets.findOne(
      { 'addition.holder': holder, 'addition.key': key },
      { readConcern: { level: 'linearizable' }, ...bounded },
    );
    if (document === null) return undefined;
    return document.addition?.fingerprint === fingerprint ? petOf(document) : null;
  }

  async function add(collections: Collections, newPet: NewPet, addition?: IdempotentAddition): Promise<Pet | null> {
    for (let tried = 1; ; tried += 1) {
      const document = petDocument(await ids.take(), newPet, addition);
      try {
        await collections.pets.insertOne(document, bounded);
        return petOf(document);
      } catch (failure) {
        const duplicated = duplicatedFields(failure);
        if (duplicated === null || tried === TRIES) throw failure;
        if (duplicated.includes('_id')) await raiseCounter(collections);
        else if (addition !== undefined) {
          const earlier = await added(collections, addition);
          if (earlier !== undefined) return earlier;
        }
      }
    }
  }

  return {
    add: (newPet, addition) => connection.call((collections) => add(collections, newPet, addition)),

    async find(id) {
      if (id < PET_ID_MIN || id > PET_ID_MAX) return null;
      return connection.call(async ({ pets }) => {
        const document = await pets.findOne({ _id: id }, { projection: PET_MEMBERS, ...bounded });
        return document && petOf(document);
      });
    },

    async list({ status, after, limit }) {
      if (after >= PET_ID_MAX) return [];
      const page = { projection: PET_MEMBERS, sort: { _id: 1 }, limit, batchSize: limit, ...bounded } as const;
      const behind = { _id: { $gt: after } };
      return connection.call(async ({ pets }) => {
        const found =
          status === undefined
            ? pets.find(behind, page)
            : pets.find({ status, ...behind }, { ...page, hint: BY_STATUS });
        return (await found.toArray()).map(petOf);
      });
    },
  };
}
