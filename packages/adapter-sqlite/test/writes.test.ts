import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { addTo, databaseAt, everyPet, freshFile, rex, storageAt } from './fixtures.ts';
import { startProcess } from './processes.ts';

test('writes that arrive together share transactions', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  await Promise.all(Array.from({ length: 500 }, () => addTo(storage, rex)));
  // A transaction of one row appends two pages to the log.
  const { log: pages } = databaseAt(file).prepare('PRAGMA wal_checkpoint').get() as { log: number };
  expect(pages).toBeLessThan(100);
});

test('equal reads of one turn of the event loop read once, and later ones see what was written meanwhile', async () => {
  const storage = await storageAt(freshFile());
  const first = everyPet(storage);
  expect(await everyPet(storage)).toBe(await first);
  await addTo(storage, rex);
  const [all, sold] = await Promise.all([
    everyPet(storage),
    storage.pets.list({ status: 'sold', after: 0n, limit: 1 }),
  ]);
  expect([all.length, sold.length]).toEqual([1, 0]);
});

test('an import of 20,000 lines gets ids in the order of its calls, and its repetition uses up none', async () => {
  const storage = await storageAt(freshFile());
  async function importAll(): Promise<(bigint | undefined)[]> {
    const ids: (bigint | undefined)[] = [];
    let next = 0;
    const line = async () => {
      for (let index = next++; index < 20_000; index = next++) {
        ids[index] = (await addTo(storage, rex, { holder: 'the zoo', key: `line-${index}`, fingerprint: 'rex' }))?.id;
      }
    };
    await Promise.all(Array.from({ length: 1_000 }, line));
    return ids;
  }
  const inOrder = Array.from({ length: 20_000 }, (_, index) => BigInt(index + 1));
  expect(await importAll()).toEqual(inOrder);
  expect(await importAll()).toEqual(inOrder);
  expect((await addTo(storage, rex))?.id).toBe(20_001n);
});

test('creations of two processes at the same time all succeed, each with an id of its own', async () => {
  // In memory the processes hardly ever meet. On most systems the folder for temporary files is on a disk.
  const file = freshFile(tmpdir());
  // Each process creates pets, 20 at a time, until both have created 2,000.
  const program = (first: number, own: string, other: string) => `
    let isOtherDone = false;
    for (let key = ${first}; key < ${first + 2_000} || !isOtherDone; key += 20) {
      await addFrom(key, 20);
      if (key === ${first + 1_980}) await storage.pets.add({ ...rex, status: '${own}' });
      isOtherDone = (await storage.pets.list({ status: '${other}', after: 0n, limit: 1 })).length > 0;
    }
    await storage.close();
  `;
  const running = [program(0, 'sold', 'pending'), program(1_000_000, 'pending', 'sold')].map((each) =>
    startProcess(file, each),
  );
  const acknowledged = await Promise.all(running.map((each) => each.acknowledged()));
  expect(running.map(({ process }) => process.exitCode)).toEqual([0, 0]);
  for (const { size } of acknowledged) expect(size).toBeGreaterThanOrEqual(2_000);
  const ids = acknowledged.flatMap((each) => [...each.values()]);
  expect(new Set(ids).size).toBe(ids.length);
  const { pets } = databaseAt(file).prepare('SELECT count(*) AS pets FROM pets').get() as { pets: number };
  expect(pets).toBe(ids.length + 2);
});
