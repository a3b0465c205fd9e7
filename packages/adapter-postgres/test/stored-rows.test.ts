import type { Pet } from '@animal-store/domain';
import { describeWithPostgres, freshDatabase, sql } from '@animal-store/test-postgres';
import { describe, expect, test } from 'vitest';
import { addTo, idempotent, openStorage, rex } from './fixtures.ts';

async function opened() {
  const url = freshDatabase();
  const storage = openStorage(url);
  await storage.ready();
  return { url, storage };
}

const digest = 'ab'.repeat(32);

describeWithPostgres('stored rows', () => {
  test('are read into the same frozen pets each time, and into pages of each caller alone', async () => {
    const { storage } = await opened();
    const { id } = (await addTo(storage.pets, rex)) as Pet;
    const page = (limit: number) => storage.pets.list({ after: 0n, limit });
    const pages = await Promise.all([page(5), page(5), page(7)]);
    const found = await Promise.all([storage.pets.find(id), storage.pets.find(id)]);
    expect(new Set(pages).size).toBe(3);
    const pets = new Set([...pages.flat(), ...found]);
    expect([...pets]).toEqual([{ ...rex, id }]);
    expect([...pets].every(Object.isFrozen)).toBe(true);
  });

  describe('are rejected if the service cannot return', () => {
    test.each([
      "(0, 'Rex', 1, null, null, null, null)",
      "(9007199254740992, 'Rex', 1, null, null, null, null)",
      "(7, '', 1, null, null, null, null)",
      `(7, '${'x'.repeat(401)}', 1, null, null, null, null)`,
      '(7, null, 1, null, null, null, null)',
      "(7, 'Rex', null, null, null, null, null)",
      "(7, 'Rex', 1, 'Sold', null, null, null)",
      "(7, 'Rex', 1, null, 'the zoo', 'k', null)",
      "(7, 'Rex', 1, null, 'the zoo', '', 'f')",
    ])('pet %s', async (row) => {
      const { url } = await opened();
      await expect(sql(`INSERT INTO pets VALUES ${row}`, url)).rejects.toThrow(/violates/);
    });

    test.each([
      `('${digest.slice(0, 15)}', '${digest}', 'p', 'h', 1)`,
      `('${digest.slice(0, 16)}', '${digest}0', 'p', 'h', 1)`,
      `('${digest.slice(0, 16).toUpperCase()}', '${digest.toUpperCase()}', 'p', 'h', 1)`,
      `('${digest.slice(0, 16)}', '${digest}', 'p', 'h', null)`,
    ])('key %s', async (row) => {
      const { url } = await opened();
      await expect(sql(`INSERT INTO api_keys VALUES ${row}`, url)).rejects.toThrow(/violates/);
    });
  });

  test('have names as they are, except for NUL and backslashes', async () => {
    const { url, storage } = await opened();
    await addTo(storage.pets, { name: 'Zoë\u0000 \\ 🐕', categoryId: 1n });
    expect(await sql('SELECT name FROM pets', url)).toEqual([{ name: 'Zoë\\0 \\\\ 🐕' }]);
  });

  test('keep their ids if they are restored without the counter, and new pets get higher ones', async () => {
    const { url, storage } = await opened();
    for (let index = 0; index < 2; index += 1) await addTo(storage.pets, rex);
    // The rest of the second block, and ids above it.
    await sql("INSERT INTO pets SELECT n, 'Max', 1 FROM generate_series(3, 5000) AS n", url);
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => addTo(storage.pets, rex, idempotent(`${index}`))),
    );
    for (const pet of added) expect(pet?.id).toBeGreaterThan(5_000n);
    expect(new Set(added.map((pet) => pet?.id)).size).toBe(20);
  });

  test('fail no creation if a block has reserved their ids', async () => {
    const { url, storage } = await opened();
    // The block of the third one has ids left.
    for (let index = 0; index < 3; index += 1) await addTo(storage.pets, rex);
    await sql("INSERT INTO pets SELECT n, 'Max', 1 FROM generate_series(4, 5000) AS n", url);
    expect((await addTo(storage.pets, rex))?.id).toBe(5_001n);
  });

  test('have ids below 2^53, and a creation beyond that throws a defect', async () => {
    const { url, storage } = await opened();
    await sql('UPDATE animal_store SET last_pet_id = 9007199254740990', url);
    expect((await addTo(storage.pets, rex))?.id).toBe(2n ** 53n - 1n);
    await expect(addTo(storage.pets, rex)).rejects.toMatchObject({ code: '23514' });
  });
});
