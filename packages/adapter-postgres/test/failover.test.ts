import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { PetStorage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, startServer, startStandby } from '@animal-store/test-postgres';
import { expect, onTestFinished, test, vi } from 'vitest';
import { addTo, idempotent, openStorage, rex } from './fixtures.ts';

/** One address that leads to one server after the other. */
async function switchingProxy(first: string) {
  let target = new URL(first);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(from);
      from.on('error', () => {}).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const url = new URL(first);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const switchTo = (next: string) => {
    target = new URL(next);
  };
  return { url: url.href, switchTo };
}

const WRITERS = 10;
const ACKNOWLEDGEMENTS = 300;

describeWithPostgres('a failover behind one address to a synchronous standby', () => {
  test('loses and doubles no pet of two processes', { timeout: 60_000 }, async () => {
    const primary = await startServer();
    onTestFinished(() => primary.stop());
    const standby = await startStandby(primary);
    onTestFinished(() => standby.stop());
    const { url, switchTo } = await switchingProxy(primary.url);
    const storages = [openStorage(url), openStorage(url)] as const;

    /** The ids that were acknowledged, by key. */
    const acknowledged = new Map<string, Set<bigint | undefined>>();
    let count = 0;
    let isOver = false;
    let failures = 0;
    /** Creates pets whose keys the writer of the other storage uses, too, each until it is acknowledged. */
    async function write(storage: PetStorage, writer: number): Promise<void> {
      for (let number = 0; !isOver; ) {
        const key = `${writer}-${number}`;
        const newPet = { ...rex, name: key };
        const failure = await failureOf(async () => {
          const pet = await addTo(storage.pets, newPet, idempotent(key, newPet));
          acknowledged.set(key, (acknowledged.get(key) ?? new Set()).add(pet?.id));
        });
        if (failure === null) {
          count += 1;
          number += 1;
        } else {
          expect(failure).toMatchObject({ code: 'storage_unavailable' });
          failures += 1;
          await vi.waitUntil(async () => (await failureOf(storage.ready)) === null, { timeout: 20_000 });
        }
      }
    }
    const writers = storages.flatMap((storage) =>
      Array.from({ length: WRITERS }, (_, writer) => write(storage, writer)),
    );
    const reached = (expected: number) => vi.waitUntil(() => count >= expected, { timeout: 20_000 });
    await reached(ACKNOWLEDGEMENTS);
    await primary.kill();
    await standby.run('SELECT pg_promote()');
    switchTo(standby.url);
    await reached(count + ACKNOWLEDGEMENTS);
    isOver = true;
    await Promise.all(writers);

    expect(failures).toBeGreaterThan(0);
    const names = new Map<string, bigint>();
    for (let after = 0n; ; ) {
      const page = await storages[0].pets.list({ after, limit: 100 });
      for (const { id, name } of page) {
        expect(names.has(name), name).toBe(false);
        names.set(name, id);
        after = id;
      }
      if (page.length === 0) break;
    }
    for (const [key, ids] of acknowledged) expect([...ids], key).toEqual([names.get(key)]);
  });
});
