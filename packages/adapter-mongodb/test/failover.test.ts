import { setTimeout as pause } from 'node:timers/promises';
import type { NewPet, Pet } from '@animal-store/domain';
import { databaseAt, describeWithContainers, type ReplicaSet, startReplicaSet } from '@animal-store/test-mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addTo, idempotent, max, openStorage, rex } from './fixtures.ts';

const KILLS = 5;
const CREATES = 5_000;
const CLIENTS = 24;

describeWithContainers('a replica set of three', () => {
  let replicaSet: ReplicaSet;
  beforeAll(async () => {
    replicaSet = await startReplicaSet(3);
  });
  afterAll(() => replicaSet?.stop());

  test('loses and duplicates no acknowledged pet while its primary is killed again and again', {
    timeout: 170_000,
  }, async () => {
    const url = replicaSet.url('failover');
    const storages = [openStorage({ url }), openStorage({ url })];
    const acknowledged = new Map<string, Pet>();
    let kills = 0;
    let failures = 0;
    let done = false;

    async function client(number: number): Promise<void> {
      for (let count = 0; !done; count += 1) {
        const name = `pet ${count} of client ${number}`;
        const newPet: NewPet = { name, categoryId: BigInt(number) };
        const create = { ...idempotent(`k${count}`, newPet), holder: `client ${number}` };
        for (let tried = 0; !acknowledged.has(name); tried += 1) {
          try {
            // Each try by another process of the service.
            const pet = await addTo(storages[(number + tried) % 2]?.pets, newPet, create);
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

    /** Waits until that many more creations have been acknowledged. */
    async function progress(count: number): Promise<void> {
      for (const goal = acknowledged.size + count; acknowledged.size < goal; ) await pause(20);
    }

    await Promise.all([killer(), ...Array.from({ length: CLIENTS }, (_, number) => client(number))]);

    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(acknowledged.size).toBeGreaterThanOrEqual(CREATES);
    // Otherwise the kills hit nothing.
    expect(failures).toBeGreaterThan(0);
    const stored: Pet[] = [];
    const reader = openStorage({ url });
    for (let after = 0n; ; after = stored.at(-1)?.id ?? 0n) {
      const page = await reader.pets.list({ after, limit: 1_000 });
      if (page.length === 0) break;
      stored.push(...page);
    }
    const byId = (one: Pet, other: Pet) => Number(one.id - other.id);
    // Every client went on until its last pet was acknowledged: nothing else may be there.
    expect(stored).toEqual([...acknowledged.values()].sort(byId));
    expect(new Set(stored.map(({ name }) => name)).size).toBe(stored.length);
    process.stdout.write(`${stored.length} creates, ${kills} kills, ${failures} calls failed meanwhile\n`);
  });

  test('does not return an earlier creation before the majority has it', async () => {
    const url = replicaSet.url('majority');
    const [one, other] = [openStorage({ url }), openStorage({ url })];
    await one.ready();
    await other.ready();
    const create = idempotent('k1');
    const primary = await replicaSet.primary();
    const secondaries = replicaSet.members.filter((member) => member !== primary);
    // Each has reserved an id: what follows writes pets only.
    for (const storage of [one, other]) for (let count = 0; count < 3; count += 1) await addTo(storage.pets, max);
    await Promise.all(secondaries.map(replicaSet.pause));
    const calls = Array.from({ length: 6 }, async (_, index) => {
      await pause(index * 100);
      return addTo((index % 2 === 0 ? one : other).pets, rex, create);
    });
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
    }
    await Promise.all(secondaries.map(replicaSet.resume));
    const added = await eventually(() => addTo(one.pets, rex, create));
    expect(await eventually(() => addTo(other.pets, rex, create))).toEqual(added);
    const stored = databaseAt(url).collection('pets');
    expect(await eventually(() => stored.countDocuments({ 'idempotency.key': 'k1' }))).toBe(1);
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
