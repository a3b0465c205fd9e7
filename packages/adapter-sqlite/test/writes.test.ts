import { tmpdir } from 'node:os';
import { added, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { expect, test } from 'vitest';
import { databaseAt, freshFile, storageAt } from './fixtures.ts';
import { startProcess } from './processes.ts';

test('writes that arrive together share transactions', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  await Promise.all(Array.from({ length: 300 }, () => added(storage.pets)));
  // A transaction of one row appends two pages to the log.
  const { log: pages } = databaseAt(file).prepare('PRAGMA wal_checkpoint').get() as { log: number };
  expect(pages).toBeLessThan(100);
});

test('equal reads of one turn of the event loop read once', async () => {
  const { pets } = await storageAt(freshFile());
  const [first, second] = [pets.list({ after: 0n, limit: 1 }), pets.list({ after: 0n, limit: 1 })];
  expect(await first).toBe(await second);
});

test('ids are in the order of the calls, and repeated idempotency keys use up none', async () => {
  const { pets } = await storageAt(freshFile());
  const inOrder = Array.from({ length: 500 }, (_, index) => BigInt(index + 1));
  for (let count = 0; count < 2; count += 1) {
    const calls = inOrder.map((id) => added(pets, rex(), idempotencyOf(rex(), `line-${id}`)));
    expect((await Promise.all(calls)).map(({ id }) => id)).toEqual(inOrder);
  }
  expect((await added(pets)).id).toBe(501n);
});

test('creations of two processes at the same time all succeed', async () => {
  // In memory the processes hardly ever meet. On most systems the folder for temporary files is on a disk.
  const file = freshFile(tmpdir());
  const other = startProcess(file, 'for (let key = 0; ; key += 20) await addFrom(key, 20);');
  await other.underWay(20);
  const storage = await storageAt(file);
  for (let round = 0; round < 100; round += 1) {
    await Promise.all(Array.from({ length: 20 }, () => added(storage.pets)));
  }
  expect(other.process.exitCode).toBeNull();
});
