import { added, apiKey, everyPage, idempotencyOf, proxied, rex } from '@animal-store/adapter-contract';
import type { Storage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, type Server, startServer } from '@animal-store/test-servers/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leading, openStorage } from './fixtures.ts';

let server: Server;

/** Runs a check while every commit waits for a standby that does not exist. */
async function withoutStandby(check: () => Promise<void>): Promise<void> {
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
  try {
    await check();
  } finally {
    await configure('');
    await Promise.all(probes);
  }
}

describeWithPostgres('without a synchronous standby that confirms', () => {
  beforeAll(async () => {
    server = await startServer('durable');
  });
  afterAll(() => server.stop());

  const pet = rex();
  const idempotency = idempotencyOf(pet, 'k');

  test.each<[string, (storage: Storage, key: ReturnType<typeof apiKey>) => Promise<unknown>]>([
    ['a repeated creation', ({ pets }) => pets.add(pet, idempotency)],
    [
      'a conflicting creation',
      ({ pets }) => pets.add({ ...pet, name: 'Max' }, idempotencyOf({ ...pet, name: 'Max' }, 'k')),
    ],
    ['a key that is added again', ({ keys }, key) => keys.add(key)],
    ['a key that is revoked again', ({ keys }, { id }) => keys.revoke(id, 5)],
    ['a restoration of pets that are there', async ({ archive }) => archive?.restore(await archive.read(0n, 9))],
  ])('does not acknowledge %s, which writes no row', async (_, call) => {
    const storage = openStorage(server.url);
    const key = apiKey();
    await storage.pets.add(pet, idempotency);
    await storage.keys.add(key);
    await storage.keys.revoke(key.id, 5);
    await withoutStandby(async () => {
      expect(await failureOf(() => call(storage, key))).toMatchObject({ code: 'storage_unavailable' });
      expect(await everyPage(storage.pets)).toHaveLength(1);
    });
    await expect.poll(() => failureOf(() => call(storage, key)), { timeout: 10_000 }).toBeNull();
  });

  test('names the reason in every process that is not ready, without a new connection', async () => {
    let canConnect = true;
    const url = await leading(server.url, (host) => (canConnect ? host : new Promise(() => {})));
    const storages = [openStorage(url), openStorage(url)];
    for (const { ready } of storages) await ready();
    canConnect = false;
    const cause = { message: 'a write still waits on the server for a synchronous standby' };
    await withoutStandby(async () => {
      for (let round = 0; round < 2; round += 1) {
        const failures = await Promise.all(storages.map(({ ready }) => failureOf(ready)));
        for (const failure of failures) expect(failure).toMatchObject({ cause });
      }
    });
  });

  test.each(['on', 'off'])(
    'has 5 connections at most while every write fails, serves reads, and writes again: track_activities = %s',
    async (tracked) => {
      const { proxy, url } = await proxied(server.url);
      const name = `waiting_${tracked}`;
      const options = `options=-c%20track_activities%3D${tracked}`;
      const { pets, keys, ready } = openStorage(`${url}?application_name=${name}&${options}`);
      const { id } = await added(pets);
      const writes = [...Array(6).fill(() => added(pets)), ready, ...Array(6).fill(() => keys.add(apiKey()))];
      const activities = (condition: string) =>
        server.run(`SELECT FROM pg_stat_activity WHERE application_name = '${name}' AND ${condition}`);
      const connections = async () => (await activities('true')).length;
      const waiting = async () => (await activities("wait_event = 'SyncRep'")).length;
      await withoutStandby(async () => {
        for (const end of ['are cut', 'time out', 'fail at once']) {
          for (let round = 0; round < 3; round += 1) {
            const failures = Promise.all(writes.map(failureOf));
            if (end === 'are cut') {
              await expect.poll(waiting).not.toBe(0);
              proxy.cut();
              proxy.pass();
            }
            for (const failure of await failures) expect(failure, end).toMatchObject({ code: 'storage_unavailable' });
            expect(await connections(), end).toBeLessThanOrEqual(5);
            await expect.poll(() => pets.find(id).catch(() => null)).toMatchObject({ id });
          }
        }
      });
      await expect.poll(() => failureOf(ready), { timeout: 10_000 }).toBeNull();
      for (const write of writes) expect(await failureOf(write)).toBeNull();
    },
  );

  test('acknowledges a creation that a crash has made visible only when a standby has it', async () => {
    const { pets, ready } = openStorage(server.url);
    await ready();
    const max = rex({ name: 'Max' });
    const create = () => pets.add(max, idempotencyOf(max, 'crashed'));
    await withoutStandby(async () => {
      expect(await failureOf(create)).toMatchObject({ code: 'storage_unavailable' });
      await server.kill();
      await server.start();
      await expect.poll(() => failureOf(() => everyPage(pets)), { timeout: 10_000 }).toBeNull();
      expect(await everyPage(pets)).toContainEqual(expect.objectContaining({ name: 'Max' }));
      for (let tried = 0; tried < 3; tried += 1) {
        expect(await failureOf(create)).toMatchObject({ code: 'storage_unavailable' });
      }
    });
    await expect.poll(create, { timeout: 10_000 }).toMatchObject({ pet: max, created: false });
    expect(await added(pets)).toMatchObject(rex());
  });
});
