import { added, everyPage, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { ALL_PETS, type Storage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, startServer, startStandby } from '@animal-store/test-servers/postgres';
import { expect, onTestFinished, test, vi } from 'vitest';
import { leading, openStorage, untilReady } from './fixtures.ts';

const WRITERS = 10;
const ACKNOWLEDGEMENTS = 300;

describeWithPostgres('a failover behind one address to a synchronous standby', () => {
  /** A primary with its standby, and the URL of a proxy that leads each connection to one of them: 0 or 1. */
  async function servers(next: () => number) {
    const primary = await startServer();
    onTestFinished(() => primary.stop());
    const standby = await startStandby(primary);
    onTestFinished(() => standby.stop());
    const hosts = [primary, standby].map(({ url }) => new URL(url).host);
    return { primary, standby, url: await leading(primary.url, () => hosts[next()] as string) };
  }

  test('serves every call although each second connection leads to the standby', { timeout: 60_000 }, async () => {
    let connections = 0;
    const { url } = await servers(() => ++connections % 2);
    for (let count = 0; count < 4; count += 1) {
      const { pets } = openStorage(url);
      const pet = await added(pets);
      expect(await Promise.all([pets.find(pet.id), pets.list({ ...ALL_PETS, after: pet.id - 1n, limit: 1 })])).toEqual([
        pet,
        [pet],
      ]);
    }
    expect(connections).toBeGreaterThan(8);
  });

  test('loses and doubles no pet of two processes', { timeout: 60_000 }, async () => {
    let current = 0;
    const { primary, standby, url } = await servers(() => current);
    const storages = [openStorage(url), openStorage(url)] as const;

    /** The ids that were acknowledged, by key. */
    const acknowledged = new Map<string, Set<bigint>>();
    let count = 0;
    let isOver = false;
    let failures = 0;
    /** Creates pets whose keys the writer of the other storage uses, too, each until it is acknowledged. */
    async function write(storage: Storage, writer: number): Promise<void> {
      for (let number = 0; !isOver; ) {
        const key = `${writer}-${number}`;
        const newPet = rex({ name: key });
        const failure = await failureOf(async () => {
          const { id } = await added(storage.pets, newPet, idempotencyOf(newPet, key));
          acknowledged.set(key, (acknowledged.get(key) ?? new Set()).add(id));
        });
        if (failure === null) {
          count += 1;
          number += 1;
        } else {
          expect(failure).toMatchObject({ code: 'storage_unavailable' });
          failures += 1;
          await untilReady(storage.ready);
        }
      }
    }
    const writers = storages.flatMap((storage) =>
      Array.from({ length: WRITERS }, (_, writer) => write(storage, writer)),
    );
    const reached = (expected: number) => vi.waitUntil(() => count >= expected, { timeout: 120_000 });
    await reached(ACKNOWLEDGEMENTS);
    await primary.kill();
    await standby.run('SELECT pg_promote()');
    current = 1;
    await reached(count + ACKNOWLEDGEMENTS);
    isOver = true;
    await Promise.all(writers);

    expect(failures).toBeGreaterThan(0);
    const stored = await everyPage(storages[0].pets);
    const idOf = new Map(stored.map(({ id, name }) => [name, id]));
    expect(idOf.size).toBe(stored.length);
    for (const [key, ids] of acknowledged) expect([...ids], key).toEqual([idOf.get(key)]);
  });
});
