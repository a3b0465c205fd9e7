import pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { Connection } from '../connection/connection.ts';
import { TIME_LIMITS } from '../time-limits.ts';
import { createPetCreation } from './pet-creation.ts';
import { PET_SQL } from './pet-statements.ts';

const rex = { name: 'Rex', categoryId: 1n };

describe('createPetCreation', () => {
  test('returns the pets of a batch although the lookup of a repeated one fails', async () => {
    const inserted: unknown[] = [];
    const responses: Record<string, (...values: unknown[]) => unknown[][]> = {
      [PET_SQL.reserveIds]: () => [['1000']],
      [PET_SQL.create]: (id, _category, _status, _name, _holder, key) => {
        inserted.push(key);
        return [[String(id)]];
      },
      [PET_SQL.createSeveral]: (ids, _categories, _statuses, _names, _holders, keys) => {
        inserted.push(keys);
        return (ids as bigint[]).filter((_, row) => (keys as string[])[row] !== 'repeated').map((id) => [String(id)]);
      },
      [PET_SQL.findCreated]: () => {
        throw Object.assign(new pg.DatabaseError('cached plan must not change result type', 0, 'error'), {
          code: '0A000',
        });
      },
    };
    const connection: Connection = {
      query: async (sql, ...values) => responses[sql]?.(...values) as never,
      call: (work) => work(),
      close: async () => {},
    };
    const add = createPetCreation(connection, { limits: TIME_LIMITS, clock: () => 0 });
    const create = (key: string) => add(rex, { holder: 'the zoo', key, fingerprint: 'f' });
    // The first two are in flight while the others wait for the next batch.
    const ends = await Promise.allSettled(['a', 'b', 'c', 'repeated', 'd'].map(create));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(inserted).toEqual([['a', 'b', 'c', 'repeated', 'd']]);
  });
});
