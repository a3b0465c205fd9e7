import { setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { type ApiKey, DomainError } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { atOnce } from './calls.ts';
import { apiKey, everyKey, FARTHEST_TIME, inOrderOfKeyIds } from './samples.ts';
import type { StorageTest } from './storage-under-test.ts';

const UNKNOWN_ID = '0123456789abcdef';

/** Records of API keys. */
export function apiKeyRepositoryContract(test: StorageTest): void {
  test('finds a record by its digest exactly as it was given, as soon as it is added', async ({ keys }) => {
    for (const record of [
      apiKey(),
      apiKey({ holder: 'the “other” zoo', expiresAt: 1_900_000_000_123 }),
      // The longest name, and the last time, that a key can be issued for.
      apiKey({ holder: `z${' '.repeat(98)}z`, expiresAt: Date.UTC(275_760, 0) - 1 }),
      apiKey({ createdAt: 0, revokedAt: 1, lastUsedAt: 2 }),
      apiKey({ expiresAt: 0, revokedAt: 0, lastUsedAt: 0 }),
      apiKey({
        createdAt: -FARTHEST_TIME,
        expiresAt: FARTHEST_TIME,
        revokedAt: FARTHEST_TIME,
        lastUsedAt: -FARTHEST_TIME,
      }),
    ]) {
      expect(await keys.find(record.digest)).toBeNull();
      await keys.add(record);
      expect(await keys.find(record.digest)).toStrictEqual(record);
      // The id is the same: it is made of the first 16 digits.
      expect(await keys.find(record.id.padEnd(64, '0'))).toBeNull();
    }
  });

  test('lists each of 1,100 records once, in order of id over all pages of any size', async ({ keys }) => {
    expect(await everyKey(keys)).toEqual([]);
    // Engines cut what they return at 1,000 or 1,024.
    const records = Array.from({ length: 1_100 }, (_, index) => apiKey({ createdAt: (index * 7) % 3 }));
    const stored: ApiKey[] = [];
    const addUntil = async (count: number) => {
      // On a busy machine all at once could take longer than a call may.
      while (stored.length < count) {
        const next = records.slice(stored.length, stored.length + 20);
        await Promise.all(next.map((record) => keys.add(record)));
        stored.push(...next);
      }
      return inOrderOfKeyIds(stored);
    };
    const few = await addUntil(240);
    for (const limit of [101, 20, 1]) expect(await everyKey(keys, limit), `pages of ${limit}`).toEqual(few);
    const sorted = await addUntil(records.length);
    expect(await everyKey(keys)).toEqual(sorted);
    const [before, between] = [sorted[99] as ApiKey, apiKey()];
    await keys.add(between);
    expect(await keys.list({ after: before.id, limit: 3 })).toEqual(
      inOrderOfKeyIds([...sorted, between].filter(({ id }) => id > before.id)).slice(0, 3),
    );
  });

  test('shows a revocation to every find that begins after it, although others are in flight', async ({ keys }) => {
    for (let count = 0; count < 30; count += 1) {
      const record = apiKey();
      await keys.add(record);
      const inFlight = Promise.all([atOnce(4, () => keys.find(record.digest)), keys.recordUse(record.id, 7)]);
      await keys.revoke(record.id, 5);
      if (count % 2 === 1) await inFlight;
      expect((await keys.find(record.digest))?.revokedAt).toBe(5);
      await inFlight;
      expect(await keys.find(record.digest)).toEqual({ ...record, revokedAt: 5, lastUsedAt: 7 });
    }
  });

  test('keeps a revocation and a use, whichever begins first, and whenever the other begins', async ({ keys }) => {
    for (let scan = 0; scan < 6; scan += 1) {
      // The other begins a few turns later each time, until the first has ended before it.
      for (let turns = 0, isOver = false; !isOver; turns = Math.ceil(turns * 1.3) + 1) {
        const record = apiKey({ lastUsedAt: 9 });
        await keys.add(record);
        const use = () => keys.recordUse(record.id, 7);
        const revoke = () => keys.revoke(record.id, 5);
        const [first, other] = scan % 2 === 0 ? [use, revoke] : [revoke, use];
        const begun = first().then(() => {
          isOver = true;
        });
        const afterTurns = async () => {
          for (let left = turns; left > 0 && !isOver; left -= 1) await nextTurn();
          const wasOver = isOver;
          await other();
          return wasOver;
        };
        [isOver] = await Promise.all([afterTurns(), begun]);
        expect(await keys.find(record.digest)).toEqual({ ...record, revokedAt: 5, lastUsedAt: 7 });
      }
    }
  });

  test('replaces the last use, also by an earlier one, and ignores that of an unknown key', async ({ keys }) => {
    const record = apiKey();
    await keys.recordUse(record.id, 1_000);
    expect(await keys.revoke(record.id, 5)).toBeNull();
    await keys.add(record);
    expect(await keys.find(record.digest)).toStrictEqual(record);
    for (const lastUsedAt of [1_000, 2_000, 500]) {
      await keys.recordUse(record.id, lastUsedAt);
      expect(await keys.find(record.digest)).toEqual({ ...record, lastUsedAt });
    }
    expect(await everyKey(keys)).toEqual([{ ...record, lastUsedAt: 500 }]);
  });

  test('keeps a record whole that is added beside 40 uses and revocations, and makes none of an unknown one', async ({
    keys,
  }) => {
    const other = apiKey();
    await keys.add(other);
    for (let round = 0; round < 3; round += 1) {
      const record = apiKey();
      const unknown = atOnce<unknown>(4, (index) =>
        index % 2 === 0 ? keys.recordUse(UNKNOWN_ID, 7) : keys.revoke(UNKNOWN_ID, 5),
      );
      const changes = atOnce<unknown>(40, (index) =>
        index % 2 === 0 ? keys.recordUse(record.id, 7) : keys.revoke(record.id, 5),
      );
      await Promise.all([keys.add(record), changes, unknown]);
      await keys.recordUse(record.id, 7);
      await keys.revoke(record.id, 5);
      const whole = { ...record, revokedAt: 5, lastUsedAt: 7 };
      expect(await keys.find(record.digest)).toStrictEqual(whole);
      expect((await everyKey(keys)).filter(({ id }) => id === record.id)).toStrictEqual([whole]);
    }
    expect(await everyKey(keys)).toHaveLength(4);
    expect(await keys.find(other.digest)).toStrictEqual(other);
  });

  test('throws the error of a defect unchanged, for each method of API keys, and works afterwards', async ({
    keys,
  }) => {
    const record = apiKey();
    await keys.add(record);
    for (const call of [() => keys.add(undefined as never), () => keys.list(undefined as never)]) {
      await expect((async () => call())()).rejects.toBeInstanceOf(TypeError);
    }
    for (const wrong of [undefined, {}, 'x'] as never[]) {
      const calls = {
        add: () => keys.add({ ...apiKey(), createdAt: wrong }),
        find: () => keys.find(wrong),
        list: () => keys.list({ after: wrong, limit: 20 }),
        'list with this limit': () => keys.list({ after: '', limit: wrong }),
        revoke: () => keys.revoke(record.id, wrong),
        recordUse: () => keys.recordUse(record.id, wrong),
      } satisfies Record<keyof ApiKeyRepository, () => unknown> & Record<string, () => unknown>;
      // An adapter may have no constraints.
      for (const [name, call] of Object.entries(calls)) {
        const error = await (async () => call())().catch((thrown) => thrown);
        expect(DomainError.is(error), `${name} with ${inspect(wrong)}: ${error}`).toBe(false);
      }
    }
    const long = apiKey({ holder: 'z'.repeat(10_000) });
    const error = await keys.add(long).catch((thrown) => thrown);
    expect(DomainError.is(error), `a holder of 10,000 characters: ${error}`).toBe(false);
    expect(await keys.find(long.digest)).toEqual(error ? null : long);
    expect(await keys.find(record.digest)).toMatchObject({ id: record.id });
  });
}

/**
 * Expects that uses by one storage and revocations by another are kept, whichever begins first, and make no other record.
 *
 * @param run Runs a call, perhaps again.
 */
export async function expectBothKept(
  one: ApiKeyRepository,
  other: ApiKeyRepository,
  run: <Result>(call: () => Promise<Result>) => Promise<Result> = (call) => call(),
): Promise<void> {
  const changed: ApiKey[] = [];
  // The first calls of a process take so long that the others meet none of them.
  for (let round = 0; round < 4; round += 1) {
    const [user, revoker] = round % 2 === 0 ? [one, other] : [other, one];
    const records = Array.from({ length: 30 }, () => apiKey());
    await Promise.all(records.map((record) => run(() => one.add(record))));
    const ids = [UNKNOWN_ID, ...records.map(({ id }) => id)];
    await Promise.all(ids.map((id) => run(() => user.recordUse(id, 6))));
    const changes = ids.map((id, index) => {
      const calls = [() => atOnce(4, () => run(() => user.recordUse(id, 7))), () => run(() => revoker.revoke(id, 5))];
      return Promise.all((index % 2 === 0 ? calls : calls.reverse()).map((call) => call()));
    });
    await Promise.all(changes);
    changed.push(...records.map((record) => ({ ...record, revokedAt: 5, lastUsedAt: 7 })));
    for (const keys of [one, other]) expect(await everyKey(keys)).toStrictEqual(inOrderOfKeyIds(changed));
  }
}
