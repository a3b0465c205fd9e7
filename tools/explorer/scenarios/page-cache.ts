import { BSON } from 'mongodb';
import { createReplicaSet } from '../src/replica-set.ts';
import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// Lists of pets from MongoDB with all that they pass: batches, the read barrier, the cache of pets and that of pages. Other
// processes create a pet and change one, and another primary may be elected. A page shows a state of the storage that was
// acknowledged, or read before, when the list was called, or a later one.

const READS = 'packages/adapter-mongodb/src/pets/pet-reads.ts';
const BARRIER = 'packages/adapter-mongodb/src/connection/read-barrier.ts';
const PETS = 'packages/adapter-kit/src/pet-decoder.ts';
const CATALOGUE = 'packages/domain/src/pets/catalogue.ts';
const LIST = 'apps/http/src/pets/list-pets.ts';
const CACHE = 'apps/http/src/pets/page-cache.ts';

interface Command {
  readonly filter?: Match;
  readonly limit?: number;
  readonly pipeline?: readonly Lookup[];
}

interface Match {
  readonly status?: string;
  readonly _id: { readonly $gt: bigint };
}

interface Lookup {
  readonly $lookup?: { readonly pipeline: readonly { readonly $match?: Match; readonly $limit?: number }[] };
}

type Response = { readonly body: string; readonly headers: Readonly<Record<string, string>> };
type Read = <T>(read: () => Promise<T>) => Promise<T>;

interface Modules {
  createPetReads(
    db: { command(command: Command): Promise<object> },
    barrier: Read,
    limits: { operation: number; batch: number },
  ): object;
  createReadBarrier(primary: () => object, confirm: () => Promise<unknown>): Read;
  createAwaitableCatalogue(pets: object): object;
  listPets(dependencies: { catalogue: object; basePath: string }): {
    handle(request: { req: { url: string } }): Promise<Response>;
  };
}

interface Pet {
  readonly _id: number;
  readonly name: string;
  readonly status: string;
}

interface Sizes {
  /** Of each client the query strings of its lists. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** Pets that another process stores one after the other; one with an id that exists is changed. */
  readonly writes: readonly Pet[];
  readonly isElecting?: boolean;
}

const TOM: Pet = { _id: 1, name: 'Tom', status: 'available' };
const REX: Pet = { _id: 2, name: 'Rex', status: 'available' };
const BEN: Pet = { _id: 3, name: 'Ben', status: 'pending' };
const STORED = [TOM, REX, BEN];

const matching = (pets: readonly Pet[], { status, _id: { $gt } }: Match, limit: number) =>
  pets.filter((pet) => pet._id > $gt && (status === undefined || pet.status === status)).slice(0, limit);

const scenario =
  ({ lists, writes, isElecting = false }: Sizes) =>
  ({ createPetReads, createReadBarrier, createAwaitableCatalogue, listPets }: Modules) =>
  (world: World) => {
    const { primary, log, confirm, read, write, mayElect } = createReplicaSet(world, STORED);
    const shared = world.shared({
      /** How much of the log was acknowledged, or has been seen. */
      needed: STORED.length,
    });
    const petsAt = (log: readonly Pet[]) => [...new Map(log.map((pet) => [pet._id, pet])).values()];

    const bytesOf = (pet: Pet) => ({ ...pet, _id: BigInt(pet._id), categoryId: 1n });
    const db = {
      async command({ filter, limit = 0, pipeline = [] }: Command) {
        const pets = petsAt(await read(filter === undefined ? 'find pages' : 'find a page'));
        if (filter !== undefined) {
          const found = matching(pets, filter, limit).map(bytesOf);
          return { cursor: { firstBatch: found.map((pet) => Buffer.from(BSON.serialize(pet))) } };
        }
        const pages = pipeline.flatMap(({ $lookup }) => {
          if ($lookup === undefined) return [];
          const stages = Object.assign({}, ...$lookup.pipeline) as { $match: Match; $limit: number };
          return [matching(pets, stages.$match, stages.$limit).map(bytesOf)];
        });
        return { cursor: { firstBatch: [Buffer.from(BSON.serialize({ ...pages }))] } };
      },
    };
    const barrier = createReadBarrier(primary, confirm);
    const reads = createPetReads(db, barrier, { operation: 1, batch: 1e6 });
    const { handle } = listPets({ catalogue: createAwaitableCatalogue(reads), basePath: '/v1' });

    /** A page as text: of the storage when it had so many writes, and of a response. */
    const expected = (query: string, writes: number) => {
      const parameters = new URLSearchParams(query);
      const [limit, status] = [Number(parameters.get('limit')), parameters.get('status')];
      const found = matching(
        petsAt(log().slice(0, writes)),
        { _id: { $gt: 0n }, ...(status !== null && { status }) },
        limit + 1,
      );
      return textOf(found.slice(0, limit), found.length > limit);
    };
    const textOf = (pets: readonly Pick<Pet, 'name' | 'status'>[], hasNext: boolean) =>
      [...pets.map(({ name, status }) => `${name} (${status})`), ...(hasNext ? ['next'] : [])].join(', ');

    const listing = (query: string) =>
      async function list(): Promise<void> {
        const { needed } = shared;
        const { body, headers } = await handle({ req: { url: `/v1/pets?${query}` } });
        const text = textOf(JSON.parse(body), headers['link'] !== undefined);
        for (let writes = needed; writes <= log().length; writes += 1) {
          if (text !== expected(query, writes)) continue;
          shared.needed = Math.max(shared.needed, writes);
          return;
        }
        throw new Error(`${query} has ${text} instead of ${expected(query, needed)}`);
      };
    for (const [name, queries] of Object.entries(lists)) world.client(name, queries.map(listing));

    const writing = (pet: Pet) => async () => {
      shared.needed = Math.max(shared.needed, await write(pet));
    };
    world.client('writer', writes.map(writing), { process: 'other' });

    if (isElecting) mayElect();
  };

const trialOf = (title: string, sizes: Sizes, options: TrialOptions = {}) =>
  trial<Modules>(title, [READS, BARRIER, CATALOGUE, LIST], scenario(sizes), { samples: 100, ...options });

const MAX: Pet = { _id: 4, name: 'Max', status: 'available' };
const SOLD: Pet = { ...REX, status: 'sold' };

await trialOf(
  '3 lists, a creation, an election',
  { lists: { first: ['limit=3', 'limit=3'], second: ['limit=3'] }, writes: [MAX], isElecting: true },
  {
    errors: [
      ['a page of an old primary counts', BARRIER, 'if (primary() === term) return result;', 'return result;'],
      [
        'pages are read without the barrier',
        READS,
        'barrier(async () => {\n        const longest',
        '((read) => read())(async () => {\n        const longest',
      ],
      ['the next page is not compared', CACHE, 'cached.next !== next || ', ''],
    ],
  },
);
await trialOf(
  '3 lists, a change',
  { lists: { first: ['limit=3'], second: ['limit=1'], third: ['limit=3'] }, writes: [SOLD] },
  {
    errors: [
      [
        'a cached page is not compared',
        LIST,
        'if (cached !== undefined && isUpToDate(cached, page))',
        'if (cached !== undefined)',
      ],
      [
        'the cache of pets knows them by id',
        PETS,
        'recent.get(stored)',
        'recent.get([...recent.keys()].find((known) => known.slice(4, 17) === stored.slice(4, 17)))',
      ],
      [
        'pets are compared by id',
        CACHE,
        'cached.pets[index] !== pets[index]',
        'cached.pets[index]?.id !== pets[index].id',
      ],
      [
        'a short page stands for a longer one',
        READS,
        'if (selection.limit > (longest.get(key)?.limit ?? 0))',
        'if (!longest.has(key))',
      ],
    ],
  },
);
await trialOf(
  '3 lists by status, a change',
  { lists: { first: ['status=available&limit=2', 'status=available&limit=2'], second: ['limit=3'] }, writes: [SOLD] },
  {
    errors: [['the length of a page is not compared', CACHE, ' || cached.pets.length !== pets.length', '']],
  },
);
