import { DatabaseSync } from 'node:sqlite';
import type { NewPet } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { expect, onTestFinished, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { addTo } from './add-to.ts';
import { freshFile } from './fresh-file.ts';
import { startProcess } from './processes.ts';

const rex: NewPet = { name: 'Rex', categoryId: 1n };

function opened(): { file: string; storage: PetStorage; db: DatabaseSync } {
  const file = freshFile();
  const storage = createSqliteStorage({ file });
  const db = new DatabaseSync(file);
  onTestFinished(async () => {
    db.close();
    await storage.close();
  });
  return { file, storage, db };
}

test('writes that arrive together share transactions', async () => {
  const { storage, db } = opened();
  await Promise.all(Array.from({ length: 500 }, () => addTo(storage.pets, rex)));
  // A transaction of one row appends two pages to the log.
  const { log: pages } = db.prepare('PRAGMA wal_checkpoint').get() as { log: number };
  expect(pages).toBeLessThan(100);
});

test('an import of 20,000 lines gets ids in the order of its calls, and its repetition uses up none', async () => {
  const { storage } = opened();
  async function importAll(): Promise<(bigint | undefined)[]> {
    const ids: (bigint | undefined)[] = [];
    let next = 0;
    const line = async () => {
      for (let index = next++; index < 20_000; index = next++) {
        const creation = await storage.pets.add(rex, { holder: 'the zoo', key: `line-${index}`, fingerprint: 'rex' });
        ids[index] = creation?.pet.id;
      }
    };
    await Promise.all(Array.from({ length: 1_000 }, line));
    return ids;
  }
  const inOrder = Array.from({ length: 20_000 }, (_, index) => BigInt(index + 1));
  expect(await importAll()).toEqual(inOrder);
  expect(await importAll()).toEqual(inOrder);
  expect((await addTo(storage.pets, rex))?.id).toBe(20_001n);
});

test('closing completes the writes that were called before', async () => {
  const { file, storage } = opened();
  const creating = Array.from({ length: 50 }, () => addTo(storage.pets, rex));
  await storage.close();
  expect(await Promise.all(creating)).toHaveLength(50);
  const again = createSqliteStorage({ file });
  onTestFinished(async () => again.close());
  expect(await again.pets.list({ after: 0n, limit: 100 })).toHaveLength(50);
});

test('a process that does not close the storage ends when its writes are done', async () => {
  const { file, storage } = opened();
  const { acknowledged } = startProcess(file, 'void addFrom(0, 50);');
  expect((await acknowledged()).size).toBe(50);
  expect(await storage.pets.list({ after: 0n, limit: 100 })).toHaveLength(50);
});
