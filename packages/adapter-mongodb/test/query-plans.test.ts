import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { BUDGET } from '@animal-store/adapter-kit';
import { PET_STATUSES, type PetStatus } from '@animal-store/domain';
import { ALL_PETS, type Storage } from '@animal-store/domain/ports';
import { describeWithMongo } from '@animal-store/test-servers/mongodb';
import { Timestamp } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { PetDocument } from '../src/documents.ts';
import { freshStorage, isReady, openStorage, profiled, times } from './fixtures.ts';

const create = { holder: 'the zoo', key: 'k7', fingerprint: 'f7' };

const stored = [apiKey(), apiKey(), apiKey()] as const;

const BY_ID = /^(IDHACK|EXPRESS_IXSCAN|IXSCAN \{ _id: 1 \})/;
const BY_STATUS = /^IXSCAN \{ status: 1, _id: 1 \}/;
const BY_DIGEST = /^(EXPRESS_)?IXSCAN \{ digest: 1 \}/;

/** The operations of work on a database with some pets and keys in it. */
async function workOf(work: (storage: Storage) => Promise<unknown>, options = '') {
  const { url, ...storage } = await freshStorage(options);
  await Promise.all(
    times(300, (index) => {
      const newPet = rex({ name: `Rex ${index}`, status: [...PET_STATUSES, undefined][index % 4] });
      const idempotency = { ...create, key: `k${index}`, fingerprint: `f${index}` };
      return added(storage.pets, newPet, idempotency);
    }),
  );
  for (const key of stored) await storage.keys.add(key);
  // The first read confirms the primary, too.
  await storage.keys.list({ after: '', limit: 20 });
  const seen = await profiled(url, () => work(storage));
  return seen.filter(({ op }) => ['query', 'command', 'insert', 'update'].includes(op));
}

describeWithMongo('every query', () => {
  describe('uses an index alone, without a collection scan, a sort or more keys than documents', () => {
    test.each<[string, RegExp, number, Parameters<typeof workOf>[0]]>([
      ['a pet', BY_ID, 1, async ({ pets }) => pets.find(7n)],
      ['no pet', BY_ID, 0, async ({ pets }) => pets.find(2n ** 40n)],
      ['the first page', BY_ID, 21, async ({ pets }) => pets.list({ ...ALL_PETS, after: 0n, limit: 21 })],
      ['a page by status', BY_STATUS, 21, async ({ pets }) => pets.list({ status: 'sold', after: 0n, limit: 21 })],
      ['a key', BY_DIGEST, 1, async ({ keys }) => keys.find(stored[1].digest)],
      ['keys', BY_DIGEST, 3, ({ keys }) => Promise.all([...stored, ...stored].map(({ digest }) => keys.find(digest)))],
      ['a page of keys', BY_ID, 3, async ({ keys }) => keys.list({ after: '', limit: 20 })],
    ])('for %s', async (_, plan, documents, work) => {
      const [query, ...more] = await workOf(work);
      expect(more).toEqual([]);
      expect(query?.['planSummary']).toMatch(plan);
      expect(query?.['docsExamined']).toBe(documents);
      expect(query?.['keysExamined']).toBeLessThanOrEqual(documents + 1);
      expect(query?.['hasSortStage']).toBeUndefined();
    });

    test('for pages that begin at different places, which one command reads', async () => {
      const page = (after: bigint, limit: number, status?: PetStatus) => ({ after, limit, status });
      const pages = [page(0n, 21), page(50n, 11), page(0n, 31, 'sold'), page(20n, 5, 'pending'), page(0n, 7, 'sold')];
      const [query, ...more] = await workOf(async ({ pets }) => {
        await Promise.all([page(0n, 1), ...pages].map((selection) => pets.list(selection)));
      });
      expect(more).toEqual([]);
      expect(query).toMatchObject({
        docsExamined: 68,
        command: { readConcern: { level: 'majority' }, maxTimeMS: BUDGET.server },
      });
      expect(query?.['keysExamined']).toBeLessThanOrEqual(68 + 4);
      expect(query?.['hasSortStage']).toBeUndefined();
    });
  });

  test('reads majority data in bounded time, whatever the URL says', async () => {
    const url = 'readConcernLevel=local&readPreference=secondaryPreferred';
    const queries = await workOf(async ({ pets, keys }) => {
      await pets.find(7n);
      await pets.list({ ...ALL_PETS, after: 0n, limit: 5 });
      await keys.find(stored[1].digest);
      await keys.list({ after: '', limit: 20 });
    }, url);
    expect(queries).toHaveLength(4);
    expect(queries[1]).toMatchObject({ command: { hint: { _id: 1 } } });
    for (const { command } of queries) {
      expect(command).toMatchObject({ readConcern: { level: 'majority' } });
      expect(Number(command.maxTimeMS)).toBe(BUDGET.server);
      expect(command.$readPreference?.mode ?? 'primary').toMatch(/^primary/);
    }
  });

  test('writes to the majority, retryably, and is bounded, whatever the URL says', async () => {
    const writes = await workOf(async ({ pets, keys }) => {
      // These creations need more ids than are left in a block.
      for (let count = 0; count < 300; count += 1) await added(pets);
      await keys.revoke(stored[0].id, 7);
      await keys.recordUse(stored[0].id, 7);
      await keys.add(apiKey());
    }, 'w=1&journal=false&retryWrites=false');
    // The profiler shows the statements of an update command without their common members.
    const commands = writes.filter(({ command }) =>
      ['insert', 'findAndModify', 'update'].some((name) => name in command),
    );
    expect(commands.map(({ ns }) => ns.split('.')[1])).toEqual(
      expect.arrayContaining(['pets', 'api_keys', 'counters']),
    );
    for (const { command } of commands) {
      expect(command.writeConcern).toMatchObject({ w: 'majority', j: true });
      expect(command.txnNumber).toBeGreaterThan(0n);
      expect(Number(command.maxTimeMS)).toBeGreaterThan(0);
      expect(Number(command.maxTimeMS)).toBeLessThanOrEqual(BUDGET.server);
    }
  });
});

describeWithMongo('many creations at once', () => {
  test('raise the counter together if it is behind the pets, as after a restore, and find repeated ones', async () => {
    const { pets, url, db } = await freshStorage();
    const other = await isReady(openStorage(url));
    const create = (index: number, key?: string) =>
      added(index % 2 === 0 ? pets : other.pets, rex(), key === undefined ? key : idempotencyOf(rex(), key));
    const earlier = await Promise.all(times(100, (index) => create(index, `old-${index}`)));
    // Without the counter, as mongorestore stores them.
    const restored = times(5_000, (index) => ({ _id: BigInt(201 + index), ...rex(), createdAt: new Date() }));
    await db.collection<PetDocument>('pets').insertMany(restored);
    const work = await profiled(url, async () => {
      const calls = times(400, (index) => create(index, index % 3 === 0 ? undefined : `new-${index}`));
      const repeated = await Promise.all(times(100, (index) => create(index, `old-${index}`)));
      expect(repeated).toEqual(earlier);
      expect(new Set((await Promise.all(calls)).map(({ id }) => id)).size).toBe(400);
    });
    expect(work.filter(({ op, ns }) => op === 'update' && ns.endsWith('.counters')).length).toBeLessThanOrEqual(12);
    expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 10_000 })).toHaveLength(5_500);
  });

  test('take a few writes, and a few queries if they are repeated, each call with the pet of its own key', async () => {
    const { pets, url } = await freshStorage();
    const create = (index: number, fingerprint: string) =>
      pets.add(
        { name: `Rex ${index}`, categoryId: 7n },
        { holder: `zoo ${index % 3}`, key: `${Math.floor(index / 3)}`, fingerprint },
      );
    const creating = () => Promise.all(times(1_500, (index) => create(index, 'first')));
    let created: Awaited<ReturnType<typeof creating>> = [];
    const writes = await profiled(url, async () => {
      created = await creating();
    });
    expect(writes.filter(({ ns }) => ns.endsWith('.counters')).length).toBeLessThanOrEqual(4);
    expect(writes.filter(({ op }) => op === 'insert').length).toBeLessThanOrEqual(8);
    const work = await profiled(url, async () => {
      const calls = times(1_500, (index) => create(index, index % 10 === 0 ? 'another' : 'first'));
      expect(await Promise.all(calls)).toEqual(
        created.map((creation, index) => (index % 10 === 0 ? null : { pet: creation?.pet, created: false })),
      );
    });
    const queries = work.filter(({ op }) => op === 'query');
    expect(queries.length).toBeLessThanOrEqual(10);
    // With the time of the server's log at which the insertion was rejected.
    const readConcern = { level: 'majority', afterClusterTime: expect.any(Timestamp) };
    for (const { planSummary, docsExamined, command } of queries) {
      expect(command).toMatchObject({ readConcern });
      expect(planSummary).toMatch(/^(?:(?:, )?IXSCAN \{ idempotency.holder: 1, idempotency.key: 1 \})+$/);
      expect(docsExamined).toBeLessThanOrEqual(500);
    }
  });
});
