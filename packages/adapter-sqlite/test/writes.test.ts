import { expect, test } from 'vitest';
import { addTo, databaseAt, everyPet, freshFile, rex, storageAt } from './fixtures.ts';

test('writes that arrive together share transactions', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  await Promise.all(Array.from({ length: 500 }, () => addTo(storage, rex)));
  // A transaction of one row appends two pages to the log.
  const { log: pages } = databaseAt(file).prepare('PRAGMA wal_checkpoint').get() as { log: number };
  expect(pages).toBeLessThan(100);
});

test('equal reads of one turn of the event loop read once', async () => {
  const storage = await storageAt(freshFile());
  const first = everyPet(storage);
  expect(await everyPet(storage)).toBe(await first);
});

test('ids are in the order of the calls, and repeated idempotency keys use up none', async () => {
  const storage = await storageAt(freshFile());
  const inOrder = Array.from({ length: 3_000 }, (_, index) => BigInt(index + 1));
  const createAll = () =>
    Promise.all(
      inOrder.map(async (id) => {
        const pet = await addTo(storage, rex, { holder: 'the zoo', key: `line-${id}`, fingerprint: 'rex' });
        return pet?.id;
      }),
    );
  expect(await createAll()).toEqual(inOrder);
  expect(await createAll()).toEqual(inOrder);
  expect((await addTo(storage, rex))?.id).toBe(3_001n);
});
