import { added, apiKey, everyPage, idempotencyOf, rex } from '@animal-store/adapter-contract';
import type { PetStorage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, type Server, startServer } from '@animal-store/test-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from './fixtures.ts';

let server: Server;

/** Every commit waits for a standby that does not exist, until the returned function is called. */
async function loseStandby(): Promise<() => Promise<void>> {
  const configure = async (names: string) => {
    await server.run(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await server.run('SELECT pg_reload_conf()');
  };
  await configure('nobody');
  const probes: Promise<unknown>[] = [];
  const isWaiting = "DO $$ BEGIN ASSERT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'); END $$";
  // The processes of the server read their configuration later.
  await expect
    .poll(async () => {
      probes.push(failureOf(() => server.run("SELECT pg_logical_emit_message(true, 'probe', '')")));
      return failureOf(() => server.run(isWaiting));
    })
    .toBeNull();
  return async () => {
    await configure('');
    await Promise.all(probes);
  };
}

describeWithPostgres('without a synchronous standby that confirms', () => {
  beforeAll(async () => {
    server = await startServer('durable');
  });
  afterAll(() => server.stop());

  const pet = rex();
  const idempotency = idempotencyOf(pet, 'k');

  test.each<[string, (storage: PetStorage, key: ReturnType<typeof apiKey>) => Promise<unknown>]>([
    ['a repeated creation', ({ pets }) => pets.add(pet, idempotency)],
    [
      'a conflicting creation',
      ({ pets }) => pets.add({ ...pet, name: 'Max' }, idempotencyOf({ ...pet, name: 'Max' }, 'k')),
    ],
    ['a key that is added again', ({ keys }, key) => keys.add(key)],
    ['a key that is revoked again', ({ keys }, { id }) => keys.revoke(id, 5)],
    ['a removal of no keys', ({ keys }) => keys.prune(0)],
    ['a restoration of pets that are there', async ({ archive }) => archive?.restore(await archive.read(0n, 9))],
    ['a restoration of nothing', async ({ archive }) => archive?.restore([])],
    ['readiness', ({ ready }) => ready()],
  ])('does not acknowledge %s, which writes no row', async (_, call) => {
    const storage = openStorage(server.url);
    const key = apiKey();
    await storage.pets.add(pet, idempotency);
    await storage.keys.add(key);
    await storage.keys.revoke(key.id, 5);
    const confirm = await loseStandby();
    try {
      expect(await failureOf(() => call(storage, key))).toMatchObject({ code: 'storage_unavailable' });
      expect(await everyPage(storage.pets)).toHaveLength(1);
    } finally {
      await confirm();
    }
    await expect.poll(() => failureOf(() => call(storage, key)), { timeout: 10_000 }).toBeNull();
  });

  test('acknowledges a creation that a crash has made visible only when a standby has it', async () => {
    const { pets, ready } = openStorage(server.url);
    await ready();
    const max = rex({ name: 'Max' });
    const create = () => pets.add(max, idempotencyOf(max, 'crashed'));
    const confirm = await loseStandby();
    try {
      expect(await failureOf(create)).toMatchObject({ code: 'storage_unavailable' });
      await server.kill();
      await server.start();
      await expect.poll(() => failureOf(() => everyPage(pets)), { timeout: 10_000 }).toBeNull();
      expect(await everyPage(pets)).toContainEqual(expect.objectContaining({ name: 'Max' }));
      for (let tried = 0; tried < 3; tried += 1) {
        expect(await failureOf(create)).toMatchObject({ code: 'storage_unavailable' });
      }
    } finally {
      await confirm();
    }
    await expect.poll(create, { timeout: 10_000 }).toMatchObject({ pet: max, created: false });
    expect(await added(pets)).toMatchObject(rex());
  });
});
