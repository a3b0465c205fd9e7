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
    const stored: unknown[] = [];
    for (const name of ['Rex', 'Max', 'Zoë']) stored.push(await addTo(storage.pets, { ...rex, name }));
    const limits = [5, 1, 2, 5, 3];
    const pages = await Promise.all(limits.map((limit) => storage.pets.list({ after: 0n, limit })));
    expect(pages).toEqual(limits.map((limit) => stored.slice(0, limit)));
    expect(new Set(pages).size).toBe(limits.length);
    const found = await Promise.all(pages.flat().map(({ id }) => storage.pets.find(id)));
    const pets = new Set([...pages.flat(), ...found]);
    expect(pets.size).toBe(stored.length);
    expect([...pets].every(Object.isFrozen)).toBe(true);
  });

  test('are read in pages that begin at different places at once', async () => {
    const { storage } = await opened();
    for (const status of ['sold', 'pending', 'sold', 'available', 'sold'] as const) {
      await addTo(storage.pets, { ...rex, status });
    }
    const selections = ([undefined, 'sold', 'pending'] as const).flatMap((status) =>
      [0n, 1n, 3n, 9n].flatMap((after) => [1, 3].map((limit) => ({ status, after, limit }))),
    );
    const alone: unknown[] = [];
    for (const selection of selections) alone.push(await storage.pets.list(selection));
    expect(await Promise.all(selections.map((selection) => storage.pets.list(selection)))).toEqual(alone);
    expect(alone.flat()).toHaveLength(24);
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

  test('have the names of creations that arrive together as they are', async () => {
    const { storage } = await opened();
    const names = ['"', '\\', '\\"', "'", ',', '{}', 'NULL', ' ', 'a"b\\', '\n', '\u0000'];
    const added = await Promise.all(names.map((name) => addTo(storage.pets, { name, categoryId: 1n })));
    expect((await storage.pets.list({ after: 0n, limit: 20 })).map(({ name }) => name)).toEqual(names);
    expect(added.map((pet) => pet?.name)).toEqual(names);
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
