import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { ALL_PETS } from '@animal-store/domain/ports';
import { describeWithPostgres } from '@animal-store/test-servers/postgres';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { freshStorage } from './fixtures.ts';

const DEFAULTS = { ...pg.defaults };
const { BOOL, INT4, INT8, JSON: JSON_TYPE, TEXT } = pg.types.builtins;
const PARSERS = [BOOL, INT4, INT8, JSON_TYPE, TEXT].map((type) => [type, pg.types.getTypeParser(type)] as const);

function restore(): void {
  for (const [name, value] of Object.entries(DEFAULTS)) if (name !== 'parseInt8') Reflect.set(pg.defaults, name, value);
  for (const [type, parser] of PARSERS) pg.types.setTypeParser(type, parser);
}

afterAll(restore);

/** What a program sets for its own clients of the driver. */
const SETTINGS: readonly (readonly [string, () => unknown])[] = [
  ...PARSERS.map(([type]) => [`a parser of the type ${type}`, () => pg.types.setTypeParser(type, () => 7)] as const),
  ...Object.entries({
    ...{ host: 'nowhere.invalid', port: 1, user: 'nobody', password: 'wrong', database: 'nowhere' },
    ...{ connectionString: 'postgres://nowhere.invalid/none', options: '-c search_path=nowhere', ssl: true },
    ...{ binary: true, rows: 1, max: 1, idleTimeoutMillis: 1, parseInputDatesAsUTC: true, parseInt8: true },
    ...{ client_encoding: 'LATIN1', application_name: '\u0000', sslnegotiation: 'direct' },
    ...{ statement_timeout: 1, lock_timeout: 1, query_timeout: 1, idle_in_transaction_session_timeout: 1 },
  }).map(([name, value]) => [`${name} = ${value}`, () => Reflect.set(pg.defaults, name, value)] as const),
];

describeWithPostgres('a storage in a program that uses the driver, too', () => {
  test.each(SETTINGS)('does not depend on its settings: %s', async (_, set) => {
    const before = await freshStorage();
    const first = await added(before.pets, rex({ name: 'Zoë 🐕' }));
    set();
    const settings = { ...pg.defaults };
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
      expect({ ...pg.defaults }, 'the settings of the program').toEqual(settings);
    } finally {
      restore();
    }
  });
});
