import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { addTo, databaseAt, everyPet, freshFile, rex, storageAt } from './fixtures.ts';
import { startProcess } from './processes.ts';

test('writes that arrive together share transactions', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  await Promise.all(Array.from({ length: 300 }, () => addTo(storage, rex)));
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
  const inOrder = Array.from({ length: 500 }, (_, index) => BigInt(index + 1));
  const createAll = () =>
    Promise.all(
      inOrder.map(async (id) => {
        const pet = await addTo(storage, rex, { holder: 'the zoo', key: `line-${id}`, fingerprint: 'rex' });
        return pet?.id;
      }),
    );
  expect(await createAll()).toEqual(inOrder);
  expect(await createAll()).toEqual(inOrder);
  expect((await addTo(storage, rex))?.id).toBe(501n);
});

test('creations of two processes at the same time all succeed', async () => {
  // In memory the processes hardly ever meet. On most systems the folder for temporary files is on a disk.
  const file = freshFile(tmpdir());
  const other = startProcess(file, 'for (let key = 0; ; key += 20) await addFrom(key, 20);');
  await other.underWay(20);
  const storage = await storageAt(file);
  for (let round = 0; round < 100; round += 1) {
    await Promise.all(Array.from({ length: 20 }, () => addTo(storage, rex)));
  }
  expect(other.process.exitCode).toBeNull();
});
