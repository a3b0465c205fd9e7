import { setImmediate as nextTurn } from 'node:timers/promises';
import { added, apiKey, idempotencyOf, interruptionsContract, rex } from '@animal-store/adapter-contract';
import { ALL_PETS, type Storage } from '@animal-store/domain/ports';
import {
  databaseAt,
  describeWithPartitions,
  type PartitionableSet,
  startPartitionableSet,
} from '@animal-store/test-servers/mongodb';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMongoStorage } from '../src/index.ts';
import { isReady, openStorage, times } from './fixtures.ts';

const sold = rex({ status: 'sold' });
const create = idempotencyOf(sold, 'k1');
const key = apiKey();

/** How late the second member hears what the primary has committed, in milliseconds. */
const COMMIT_DELAY = 300;

const ELECTION_TIMEOUT = 8_000;

type Observation = 'everything' | 'too little' | 'nothing: unavailable';

/** Calls again and again, until it is stopped: at the latest when the running test ends. */
function observe(sawEverything: () => Promise<boolean>) {
  const observations: Observation[] = [];
  let done = false;
  async function once(): Promise<Observation> {
    try {
      return (await sawEverything()) ? 'everything' : 'too little';
    } catch (error) {
      expect(error).toMatchObject({ code: 'storage_unavailable' });
      return 'nothing: unavailable';
    }
  }
  const ended = (async () => {
    while (!done) {
      observations.push(await once());
      // A closed storage rejects calls at once.
      await nextTurn();
    }
  })();
  function stop(): Promise<void> {
    done = true;
    return ended;
  }
  onTestFinished(stop);
  return { observations, stop };
}

describeWithPartitions('a network partition', () => {
  let set: PartitionableSet;
  beforeAll(async () => {
    set = await startPartitionableSet(ELECTION_TIMEOUT);
  });
  afterAll(() => set?.stop());

  afterEach(() => set.heal());

  test('hides none of the writes that were just acknowledged from reads through the next primary', async () => {
    const [first, second, slow] = set.members;
    const url = set.url('next');
    const [writer, reader] = [openStorage(url), openStorage(url)];
    const { keys } = await isReady(openStorage(url));
    // The writer has ids in stock, and the others have read from the first primary.
    for (let count = 0; count < 3; count += 1) await added(writer.pets, sold);
    await reader.pets.find(1n);
    await keys.list({ after: '', limit: 20 });

    const stored = databaseAt(set.urlPastProxies(second, 'next')).collection('pets');
    const committed = () => stored.countDocuments({}, { readConcern: { level: 'majority' } });
    // The second member has heard that these are committed, and does not hear it of what follows.
    await expect.poll(committed).toBe(3);

    // The third member follows neither: the second can't commit anything, and is elected because it has more.
    for (const member of [first, second]) set.silence(slow, member);
    set.delayResponses(second, first, COMMIT_DELAY);
    const [{ id }] = await Promise.all([added(writer.pets, sold, create), writer.keys.add(key)]);
    set.isolate(first);

    const page = { ...ALL_PETS, after: 0n, limit: 100 };
    const { pets } = reader;
    const observers = [
      observe(async () => (await pets.find(id)) !== null),
      observe(async () => (await pets.list(page)).length === 4),
      observe(async () => (await pets.list({ ...page, status: 'sold' })).length === 4),
      observe(async () => (await added(pets, sold, create)).id === id),
      observe(async () => (await keys.find(key.digest)) !== null),
      observe(async () => (await keys.list({ after: '', limit: 20 })).length === 1),
    ];
    await set.becomesPrimary(second);
    for (const { observations } of observers) {
      const before = observations.length;
      await expect.poll(() => observations.length).toBeGreaterThan(before + 1);
    }
    // The new primary has the pet and does not know that a majority has it: there is something to miss.
    expect(await stored.countDocuments({}, { readConcern: { level: 'local' } })).toBe(4);
    expect(await committed()).toBe(3);

    await set.heal();
    for (const { observations, stop } of observers) {
      await expect.poll(() => observations.at(-1)).toBe('everything');
      await stop();
      expect(observations).not.toContain('too little');
      expect(observations).toContain('nothing: unavailable');
    }
  });

  test('acknowledges nothing that is there already before the majority has it', async () => {
    const url = set.url('majority');
    const storages = [openStorage(url), openStorage(url)] as const;
    await isReady(storages[0]);
    // Each has reserved ids: what follows writes pets only.
    for (const { pets } of storages) for (let count = 0; count < 3; count += 1) await added(pets);
    set.isolate(set.members[0]);
    const first = added(storages[0].pets, sold, create);
    first.catch(() => {});
    const firstKey = storages[0].keys.add(key);
    firstKey.catch(() => {});
    const db = databaseAt(set.urlPastProxies(set.members[0], 'majority'));
    const local = (name: string) => db.collection(name).countDocuments({}, { readConcern: { level: 'local' } });
    await expect.poll(async () => [await local('pets'), await local('api_keys')]).toEqual([7, 1]);
    const [pet] = await db.collection<{ _id: bigint }>('pets').find().sort({ _id: -1 }).limit(1).toArray();
    const stored = { id: pet?._id as bigint, ...sold, createdAt: 0 };
    const repeated = ({ pets, keys, archive }: Storage) => [
      ...times(3, () => added(pets, sold, create)),
      keys.add(key),
      keys.revoke(key.id, 7),
      keys.revoke(key.id, 7),
      archive?.restore([stored]),
    ];
    for (const call of await Promise.allSettled([first, firstKey, ...storages.flatMap(repeated)])) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
    }
    await set.heal();
    await Promise.all(storages.map(isReady));
    const created = await added(storages[0].pets, sold, create);
    expect(await added(storages[1].pets, sold, create)).toEqual(created);
    expect(await storages[0].pets.list({ ...ALL_PETS, after: 0n, limit: 100 })).toHaveLength(7);
  });

  const away = (index: 0 | 1) => ({
    leaves: { allWithin: 60_000 },
    passes: true,
    begin: () => set.isolate(set.members[index]),
    end: () => set.heal(),
  });
  interruptionsContract(
    {
      async freshPlace() {
        const url = set.url(`test_${crypto.randomUUID()}`);
        // A new database takes longer than a call on three members.
        await (await isReady(createMongoStorage({ url }))).close();
        return url;
      },
      open: (url) => createMongoStorage({ url }),
      interruptions: 'not tested',
    },
    { 'the primary': away(0), 'a secondary': away(1) },
  );
});
