import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { added, apiKey, idempotencyOf } from '@animal-store/adapter-contract';
import { describe, expect, test } from 'vitest';
import { FORMAT } from '../src/schema.ts';
import { databaseAt, fileWith, freshFile, storageAt } from './fixtures.ts';

/** A file as version 1.0 leaves it: four pets, of which the last was deleted, and two API keys. */
const FORMAT_1 = fileURLToPath(new URL('fixtures/format-1.db', import.meta.url));

/** The files of all formats, by the number in their names. */
const FIXTURES = readdirSync(dirname(FORMAT_1)).flatMap((name) => {
  const [, format] = /^format-(\d+)\.db$/.exec(name) ?? [];
  return format === undefined ? [] : [[Number(format), join(dirname(FORMAT_1), name)] as const];
});

const zoe = { name: 'Zoe\u0308 🐕', categoryId: 2n ** 63n - 1n };
const createdAt = 1_763_000_000_000;

const keyOf = (digits: string) => apiKey({ id: digits.repeat(8), digest: digits.repeat(32), createdAt });

const schemaOf = (file: string) =>
  databaseAt(file).prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all();

describe('a file of format 1', () => {
  test('has its pets, idempotency keys and API keys, and accepts more', async () => {
    const file = freshFile();
    copyFileSync(FORMAT_1, file);
    const { pets, keys, archive } = await storageAt(file);
    expect(await archive?.read(0n, 100)).toEqual([
      { id: 1n, name: 'Rex', categoryId: 7n, status: 'available', createdAt },
      { id: 2n, ...zoe, createdAt, idempotency: idempotencyOf(zoe, 'k1') },
      { id: 3n, name: 'Max', categoryId: -1n, status: 'sold', createdAt },
    ]);
    // The id of the deleted pet is not assigned again.
    expect((await added(pets)).id).toBe(5n);
    const revoked = { createdAt: createdAt + 1, lastUsedAt: createdAt + 2, revokedAt: createdAt + 3 };
    expect(await keys.list({ after: '', limit: 20 })).toEqual([
      keyOf('ab'),
      { ...keyOf('cd'), ...revoked, expiresAt: 1_900_000_000_000 },
    ]);
    await keys.add(keyOf('ef'));
  });

  test('has the schema of a new file', async () => {
    expect(schemaOf(await fileWith(0))).toEqual(schemaOf(FORMAT_1));
  });
});

test('each format has a file, whose name has its number', () => {
  // Where SQLite keeps it (https://sqlite.org/fileformat.html, 1.3).
  for (const [format, file] of FIXTURES) expect(readFileSync(file).readUInt32BE(60)).toBe(format);
  expect(FIXTURES.map(([format]) => format)).toContain(FORMAT);
});

test.each([
  ['9223372036854775807', 8.64e15],
  ['-9223372036854775808', -8.64e15],
])('a stored time of %s is read as the farthest date, and copied as this one', async (stored, time) => {
  const { pets, keys, archive, location: file } = await storageAt();
  const { id } = await added(pets);
  await keys.add(keyOf('ab'));
  databaseAt(file).exec(`UPDATE pets SET created_at = ${stored};
    UPDATE api_keys SET created_at = ${stored}, expires_at = ${stored}, revoked_at = ${stored}, last_used_at = ${stored}`);
  const far = { createdAt: time, expiresAt: time, revokedAt: time, lastUsedAt: time };
  const listed = await keys.list({ after: '', limit: 10 });
  expect(listed).toEqual([{ ...keyOf('ab'), ...far }]);
  expect(new Date(time).getTime()).toBe(time);

  const pet = (await archive?.read(0n, 1)) ?? [];
  expect(pet).toMatchObject([{ id, createdAt: time }]);
  const target = await storageAt();
  await target.archive?.restore(pet);
  expect(await target.archive?.read(0n, 1)).toEqual(pet);
  for (const key of listed) await target.keys.add(key);
  expect(await target.keys.list({ after: '', limit: 10 })).toEqual(listed);
});
