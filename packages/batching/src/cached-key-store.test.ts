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

/** A store that other processes change, too. It counts queries, and responds when the test wants it. */
function sharedStore() {
  const records = new Map<string, ApiKey>();
  const state = { queries: 0, now: 0, records, response: Promise.resolve(), failing: false };
  const change = (id: string, changed: (key: ApiKey) => ApiKey) => {
    const found = [...records.values()].find((key) => key.id === id);
    if (found === undefined) return null;
    records.set(found.digest, changed(found));
    return changed(found);
  };
  const store: KeyStore = {
    async add(key) {
      if (!records.has(key.digest)) records.set(key.digest, key);
    },
    async find(digest) {
      state.queries += 1;
      // Read now, returned later.
      const found = records.get(digest) ?? null;
      const { failing } = state;
      await state.response;
      if (failing) throw new Error('down');
      return found;
    },
    list: async () => [...records.values()],
    async revoke(id, at) {
      const revoked = change(id, (key) => ({ ...key, revokedAt: at }));
      if (state.failing) throw new Error('the response was lost');
      return revoked;
    },
    async recordUse(id, at) {
      if (state.failing) throw new Error('down');
      change(id, (key) => ({ ...key, lastUsedAt: at }));
    },
  };
  return Object.assign(state, { keys: createCachedKeyStore(store, () => state.now) });
}

describe('createCachedKeyStore', () => {
  test('queries a key once in its time to live, and returns it without a promise', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    expect(await state.keys.find(record().digest)).toEqual(record());
    state.now = HIT_TTL - 1;
    expect(state.keys.find(record().digest)).toEqual(record());
    expect(state.queries).toBe(1);
    state.now = HIT_TTL;
    await state.keys.find(record().digest);
    expect(state.queries).toBe(2);
  });

  test('accepts a key that another process revokes for the time to live at most, within the 10 s of the port', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    state.records.set(record().digest, { ...record(), revokedAt: 1 });
    state.now = HIT_TTL;
    expect(await state.keys.find(record().digest)).toMatchObject({ revokedAt: 1 });
    expect(HIT_TTL).toBeLessThanOrEqual(10_000);
  });

  test('counts the age from the beginning of a query', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    const queries = state.keys.find(record().digest);
    state.now = HIT_TTL;
    await queries;
    await state.keys.find(record().digest);
    expect(state.queries).toBe(2);
  });

  test('shares a query in flight until its result would be too old', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    state.response = new Promise(() => {});
    void state.keys.find(record().digest);
    state.now = HIT_TTL - 1;
    void state.keys.find(record().digest);
    expect(state.queries).toBe(1);
    state.records.set(record().digest, { ...record(), revokedAt: 1 });
    state.now = HIT_TTL;
    state.response = Promise.resolve();
    expect(await state.keys.find(record().digest)).toMatchObject({ revokedAt: 1 });
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

  test('returns changes of this process at once', async () => {
    const { keys } = sharedStore();
    const { id, digest } = record();
    expect(await keys.find(digest)).toBeNull();
    await keys.add(record());
    expect(await keys.find(digest)).toEqual(record());
    await keys.recordUse(id, 7);
    expect(await keys.find(digest)).toEqual({ ...record(), lastUsedAt: 7 });
    await keys.revoke(id, 8);
    expect(await keys.find(digest)).toMatchObject({ revokedAt: 8 });
  });

  test('does not cache the result of a query from before a revocation', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    let respond = () => {};
    state.response = new Promise((resolve) => {
      respond = resolve;
    });
    const before = state.keys.find(record().digest);
    await state.keys.revoke(record().id, 8);
    const after = state.keys.find(record().digest);
    respond();
    expect(await before).toMatchObject({ revokedAt: null });
    expect(await after).toMatchObject({ revokedAt: 8 });
    expect(await state.keys.find(record().digest)).toMatchObject({ revokedAt: 8 });
  });

  test('queries a key again after a revocation whose response was lost', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    state.failing = true;
    await expect(state.keys.revoke(record().id, 8)).rejects.toThrow();
    state.failing = false;
    expect(await state.keys.find(record().digest)).toMatchObject({ revokedAt: 8 });
  });

  test('queries a key no more often while its uses cannot be recorded', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    state.failing = true;
    await expect(state.keys.recordUse(record().id, 8)).rejects.toThrow();
    expect(await state.keys.find(record().digest)).toEqual(record());
    expect(state.queries).toBe(1);
  });

  test('shares a query among a hundred lookups at once, and caches no failure', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    state.failing = true;
    const failed = await Promise.allSettled(Array.from({ length: 100 }, () => state.keys.find(record().digest)));
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
    state.failing = false;
    await Promise.all(Array.from({ length: 100 }, () => state.keys.find(record().digest)));
    expect(state.queries).toBe(2);
  });

  test('bounds the number of entries, and evicts no existing key for a missing one', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    for (let number = 2; number < MAX_ENTRIES + 3; number += 1) await state.keys.find(digestOf(number));
    const { queries } = state;
    await state.keys.find(record().digest);
    await state.keys.find(digestOf(MAX_ENTRIES + 2));
    expect(state.queries).toBe(queries);
    await state.keys.find(digestOf(2));
    expect(state.queries).toBe(queries + 1);
  });

  test('distinguishes two digests with the same first characters', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    expect(await state.keys.find(record().digest.replace(/.$/, '1'))).toBeNull();
  });
});
