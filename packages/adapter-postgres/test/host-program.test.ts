import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { ALL_PETS } from '@animal-store/domain/ports';
import { describeWithPostgres } from '@animal-store/test-servers/postgres';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { freshStorage } from './fixtures.ts';

const { BOOL, INT4, INT8, JSON: JSON_TYPE, TEXT } = pg.types.builtins;
const PARSERS = [BOOL, INT4, INT8, JSON_TYPE, TEXT].map((type) => [type, pg.types.getTypeParser(type)] as const);

function restore(): void {
  for (const [type, parser] of PARSERS) pg.types.setTypeParser(type, parser);
}

afterAll(restore);

describeWithPostgres('a storage in a program that uses the driver, too', () => {
  test('does not depend on its parsers of results', async () => {
    const before = await freshStorage();
    const first = await added(before.pets, rex({ name: 'Zoë 🐕' }));
    for (const [type] of PARSERS) pg.types.setTypeParser(type, () => 7);
    try {
      const { pets, keys, archive } = await freshStorage(before.url);
      const key = apiKey();
      await keys.add(key);
      const both = await Promise.all([added(pets), added(pets, rex(), idempotencyOf(rex(), 'k'))]);
      expect(await added(pets, rex(), idempotencyOf(rex(), 'k'))).toEqual(both[1]);
      expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 9 })).toEqual([first, ...both]);
      expect(await pets.find(first.id)).toEqual(first);
      expect(await keys.find(key.digest)).toEqual(key);
      expect(await archive?.read(0n, 9)).toMatchObject([first, ...both]);
    } finally {
      restore();
    }
  });
});
