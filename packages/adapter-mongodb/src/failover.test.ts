import { setTimeout as pause } from 'node:timers/promises';
import type { NewPet, Pet } from '@animal-store/domain';
import { fingerprint, type PetStorage } from '@animal-store/domain/ports';
import { databaseAt, describeWithContainers, type ReplicaSet, startReplicaSet } from '@animal-store/test-mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMongoStorage } from './index.ts';

const KILLS = 5;
const CREATES = 5_000;
const CLIENTS = 24;

describeWithContainers('a replica set of three', () => {
  let replicaSet: ReplicaSet;
  beforeAll(async () => {
    replicaSet = await startReplicaSet(3);
  }, 90_000);
  afterAll(() => replicaSet?.stop());

  function opened(url: string): PetStorage {
    const storage = createMongoStorage({ url });
    onTestFinished(async () => storage.close());
    return storage;
  }

  test('loses and doubles no acknowledged animal while its primary is killed again and again', {
    timeout: 170_000,
  }, async () => {
    const url = replicaSet.url('failover');
    const storages = [opened(url), opened(url)];
    const acknowledged = new Map<string, Pet>();
    let kills = 0;
    let failures = 0;
    let done = false;

    async function client(number: number): Promise<void> {
      for (let count = 0; !done; count += 1) {
        const name = `animal ${count} of client ${number}`;
        const newPet: NewPet = { name, categoryId: BigInt(number) };
        const addition = { holder: `client ${number}`, key: `k${count}`, fingerprint: fingerprint(newPet) };
        for (let tried = 0; !acknowledged.has(name); tried += 1) {
          try {
            // Each try by another process of the service.
            const pet = await storages[(number + tried) % 2]?.pets.add(newPet, addition);
            expect(pet).toMatchObject({ name });
            acknowledged.set(name, pet as Pet);
          } catch (error) {
            expect(error).toMatchObject({ code: 'storage_unavailable' });
            failures += 1;
            await pause(50);
          }
        }
      }
    }

    async function killer(): Promise<void> {
      while (kills < KILLS) {
        await progress(300);
        const primary = await replicaSet.primary();
        await replicaSet.kill(primary);
        kills += 1;
        await progress(100);
        await replicaSet.start(primary);
      }
      await progress(Math.max(CREATES - acknowledged.size, 100));
      done = true;
    }

    /** Waits until that many more additions have been acknowledged. */
    async function progress(count: number): Promise<void> {
      for (const goal = acknowledged.size + count; acknowledged.size < goal; ) await pause(20);
    }

    await Promise.all([killer(), ...Array.from({ length: CLIENTS }, (_, number) => client(number))]);

    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(acknowledged.size).toBeGreaterThanOrEqual(CREATES);
    // Otherwise the kills hit nothing.
    expect(failures).toBeGreaterThan(0);
    const stored: Pet[] = [];
    const reader = opened(url);
    for (let after = 0n; ; after = stored.at(-1)?.id ?? 0n) {
      const page = await reader.pets.list({ after, limit: 1_000 });
      if (page.length === 0) break;
      stored.push(...page);
    }
    const byId = (one: Pet, other: Pet) => Number(one.id - other.id);
    // Every client went on until its last animal was acknowledged: nothing else may be there.
    expect(stored).toEqual([...acknowledged.values()].sort(byId));
    expect(new Set(stored.map(({ name }) => name)).size).toBe(stored.length);
    process.stdout.write(`${stored.length} creates, ${kills} kills, ${failures} calls failed meanwhile\n`);
  });

  test('does not replay an addition that its majority does not have yet', { timeout: 60_000 }, async () => {
    const url = replicaSet.url('majority');
    const [one, other] = [opened(url), opened(url)];
    await one.ready();
    await other.ready();
    const newPet: NewPet = { name: 'Rex', categoryId: 1n };
    const addition = { holder: 'the zoo', key: 'k1', fingerprint: fingerprint(newPet) };
    const primary = await replicaSet.primary();
    const secondaries = replicaSet.members.filter((member) => member !== primary);
    // An id is in stock: what follows writes animals only.
    for (const storage of [one, other]) for (let count = 0; count < 3; count += 1) await storage.pets.add(newPet);
    await Promise.all(secondaries.map(replicaSet.pause));
    const calls = Array.from({ length: 6 }, async (_, index) => {
      await pause(index * 100);
      return (index % 2 === 0 ? one : other).pets.add(newPet, addition);
    });
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
    }
    await Promise.all(secondaries.map(replicaSet.resume));
    const added = await eventually(() => one.pets.add(newPet, addition));
    expect(await eventually(() => other.pets.add(newPet, addition))).toEqual(added);
    const stored = databaseAt(url).collection('pets');
    expect(await eventually(() => stored.countDocuments({ 'addition.key': 'k1' }))).toBe(1);
  });
});

async function eventually<T>(work: () => T): Promise<Awaited<T>> {
  for (const started = performance.now(); ; ) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() - started > 20_000) throw error;
      await pause(100);
    }
  }
}
