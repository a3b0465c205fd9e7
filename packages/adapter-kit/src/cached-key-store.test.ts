import type { ApiKey } from '@animal-store/domain';
import type { KeyStore } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { createCachedKeyStore, HIT_TTL, MAX_ENTRIES, MISS_TTL } from './cached-key-store.ts';

const digestOf = (number: number) => number.toString(16).padStart(16, '0').padEnd(64, '0');

function record(number = 1): ApiKey {
  const digest = digestOf(number);
  return {
    id: digest.slice(0, 16),
    digest,
    visiblePrefix: 'anst_0000',
    holder: 'the zoo',
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}

/** A cache before records that a test changes, as another process does. It counts queries. */
function sharedStore(...stored: ApiKey[]) {
  const records = new Map(stored.map((key) => [key.digest, key]));
  const state = { queries: 0, now: 0, records, failing: false, cached: [] as boolean[] };
  async function throwIfFailing(): Promise<void> {
    if (state.failing) throw new Error('down');
  }
  function change(changes: Partial<ApiKey>): ApiKey {
    const changed = { ...record(), ...records.get(record().digest), ...changes };
    records.set(changed.digest, changed);
    return changed;
  }
  const store: KeyStore = {
    async add(key) {
      records.set(key.digest, key);
    },
    async find(digest) {
      state.queries += 1;
      const found = records.get(digest) ?? null;
      await throwIfFailing();
      return found;
    },
    list: async () => [...records.values()],
    revoke: async (_id, revokedAt) => change({ revokedAt }),
    async prune() {
      const { size } = records;
      records.clear();
      return size;
    },
    async recordUse(_id, lastUsedAt) {
      await throwIfFailing();
      change({ lastUsedAt });
    },
  };
  const keys = createCachedKeyStore(
    store,
    () => state.now,
    (cached) => state.cached.push(cached),
  );
  return Object.assign(state, { keys });
}

// tools/explorer shows that a revoked key is rejected in every order of lookups, changes, lost responses and time.
describe('createCachedKeyStore', () => {
  test('queries a key once in its time to live, and returns it without a promise', async () => {
    const state = sharedStore(record());
    expect(await state.keys.find(record().digest)).toEqual(record());
    state.now = HIT_TTL - 1;
    expect(state.keys.find(record().digest)).toEqual(record());
    expect(state.queries).toBe(1);
    state.now = HIT_TTL;
    await Promise.all([state.keys.find(record().digest), state.keys.find(record().digest)]);
    expect(state.queries).toBe(2);
    state.now += HIT_TTL - 1;
    await state.keys.find(record().digest);
    expect(state.queries).toBe(2);
    expect(state.cached).toEqual([false, true, false, false, true]);
  });

  test('shows changes of this process at once, also to a lookup after one in flight', async () => {
    const { keys } = sharedStore();
    const { id, digest } = record();
    expect(await keys.find(digest)).toBeNull();
    await keys.add(record());
    expect(await keys.find(digest)).toEqual(record());
    await keys.recordUse(id, 5);
    const used = { ...record(), lastUsedAt: 5 };
    expect(await keys.find(digest)).toEqual(used);
    const revoked = { ...used, revokedAt: 7 };
    expect(await keys.revoke(id, 7)).toEqual(revoked);
    expect(await keys.find(digest)).toEqual(revoked);
    await keys.recordUse(id, 8);
    const inFlight = keys.find(digest);
    await keys.recordUse(id, 9);
    await inFlight;
    expect(await keys.find(digest)).toEqual({ ...revoked, lastUsedAt: 9 });
    expect(await keys.list()).toEqual([{ ...revoked, lastUsedAt: 9 }]);
    expect(await keys.prune(8)).toBe(1);
    expect(await keys.find(digest)).toBeNull();
  });

  test('caches for a shorter time that a key does not exist', async () => {
    const state = sharedStore();
    expect(await state.keys.find(record().digest)).toBeNull();
    state.records.set(record().digest, record());
    state.now = MISS_TTL - 1;
    expect(await state.keys.find(record().digest)).toBeNull();
    expect(state.queries).toBe(1);
    state.now = MISS_TTL;
    expect(await state.keys.find(record().digest)).toEqual(record());
  });

  test('queries a key no more often while its uses cannot be recorded', async () => {
    const state = sharedStore(record());
    await state.keys.find(record().digest);
    state.failing = true;
    await expect(state.keys.recordUse(record().id, 8)).rejects.toThrow();
    expect(await state.keys.find(record().digest)).toEqual(record());
    expect(state.queries).toBe(1);
  });

  test('shares a query among a hundred lookups at once, and caches no failure', async () => {
    const state = sharedStore(record());
    state.failing = true;
    const failed = await Promise.allSettled(Array.from({ length: 100 }, () => state.keys.find(record().digest)));
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
    state.failing = false;
    await Promise.all(Array.from({ length: 100 }, () => state.keys.find(record().digest)));
    expect(state.queries).toBe(2);
  });

  test('bounds the number of entries, and evicts no existing key for a missing one', async () => {
    const state = sharedStore(record());
    await state.keys.find(record().digest);
    await Promise.all(Array.from({ length: MAX_ENTRIES + 1 }, (_, index) => state.keys.find(digestOf(index + 2))));
    const { queries } = state;
    await state.keys.find(record().digest);
    await state.keys.find(digestOf(3));
    await state.keys.find(digestOf(MAX_ENTRIES + 2));
    expect(state.queries).toBe(queries);
    await state.keys.find(digestOf(2));
    expect(state.queries).toBe(queries + 1);
  });

  test('distinguishes two digests with the same first characters', async () => {
    const state = sharedStore(record());
    await state.keys.find(record().digest);
    expect(await state.keys.find(record().digest.replace(/.$/, '1'))).toBeNull();
  });
});
