import type { ApiKey } from '@animal-store/domain';
import type { KeyStore } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { createCachedKeyStore, KNOWN_MAX_AGE, REMEMBERED_MAX, UNKNOWN_MAX_AGE } from './cached-key-store.ts';

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

/** A store that other processes change, too; it counts what it is asked, and answers when it is told to. */
function sharedStore() {
  const records = new Map<string, ApiKey>();
  const state = { asked: 0, now: 0, records, answer: Promise.resolve(), failing: false };
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
      state.asked += 1;
      // Read first, answered later.
      const found = records.get(digest) ?? null;
      const { failing } = state;
      await state.answer;
      if (failing) throw new Error('down');
      return found;
    },
    list: async () => [...records.values()],
    async revoke(id, at) {
      const revoked = change(id, (key) => ({ ...key, revokedAt: at }));
      if (state.failing) throw new Error('the answer was lost');
      return revoked;
    },
    async recordUse(id, at) {
      change(id, (key) => ({ ...key, lastUsedAt: at }));
    },
  };
  return Object.assign(state, { keys: createCachedKeyStore(store, () => state.now) });
}

describe('remembered API keys', () => {
  test('a known key is asked for once in its age, and answered without a promise', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    expect(await state.keys.find(record().digest)).toEqual(record());
    state.now = KNOWN_MAX_AGE - 1;
    expect(state.keys.find(record().digest)).toEqual(record());
    expect(state.asked).toBe(1);
    state.now = KNOWN_MAX_AGE;
    await state.keys.find(record().digest);
    expect(state.asked).toBe(2);
  });

  test('a key that another process revokes lives on for the age at most, and its age is within the 10 s of the port', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    state.records.set(record().digest, { ...record(), revokedAt: 1 });
    state.now = KNOWN_MAX_AGE;
    expect(await state.keys.find(record().digest)).toMatchObject({ revokedAt: 1 });
    expect(KNOWN_MAX_AGE).toBeLessThanOrEqual(10_000);
  });

  test('the age counts from the question, not from a late answer', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    const asked = state.keys.find(record().digest);
    state.now = KNOWN_MAX_AGE;
    await asked;
    await state.keys.find(record().digest);
    expect(state.asked).toBe(2);
  });

  test('a clock that is put back lets nothing live longer', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    state.now = -1;
    await state.keys.find(record().digest);
    expect(state.asked).toBe(2);
  });

  test('an unknown key is remembered for a shorter time', async () => {
    const state = sharedStore();
    expect(await state.keys.find(record().digest)).toBeNull();
    state.records.set(record().digest, record());
    state.now = UNKNOWN_MAX_AGE - 1;
    expect(await state.keys.find(record().digest)).toBeNull();
    expect(state.asked).toBe(1);
    state.now = UNKNOWN_MAX_AGE;
    expect(await state.keys.find(record().digest)).toEqual(record());
  });

  test('what this process changes is seen at once', async () => {
    const { keys } = sharedStore();
    const { id, digest } = record();
    expect(await keys.find(digest)).toBeNull();
    await keys.add(record());
    expect(await keys.find(digest)).toEqual(record());
    await keys.recordUse(id, 7);
    expect(await keys.find(digest)).toEqual({ ...record(), lastUsedAt: 7 });
    await keys.recordUse(id, 6);
    expect(await keys.find(digest)).toEqual({ ...record(), lastUsedAt: 7 });
    await keys.revoke(id, 8);
    expect(await keys.find(digest)).toMatchObject({ revokedAt: 8 });
  });

  test('a use is noted before it is written, so that it is not written again meanwhile', () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    return Promise.resolve(state.keys.find(record().digest)).then(() => {
      void state.keys.recordUse(record().id, 7);
      expect(state.keys.find(record().digest)).toMatchObject({ lastUsedAt: 7 });
    });
  });

  test('an answer from before a revocation is not remembered', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    let answer = () => {};
    state.answer = new Promise((resolve) => {
      answer = resolve;
    });
    const before = state.keys.find(record().digest);
    await state.keys.revoke(record().id, 8);
    const after = state.keys.find(record().digest);
    answer();
    expect(await before).toMatchObject({ revokedAt: null });
    expect(await after).toMatchObject({ revokedAt: 8 });
    expect(await state.keys.find(record().digest)).toMatchObject({ revokedAt: 8 });
  });

  test('after a revocation whose answer was lost the key is read again', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    state.failing = true;
    await expect(state.keys.revoke(record().id, 8)).rejects.toThrow();
    state.failing = false;
    expect(await state.keys.find(record().digest)).toMatchObject({ revokedAt: 8 });
  });

  test('a hundred who ask at once share one question; a failure is not remembered', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    state.failing = true;
    const failed = await Promise.allSettled(Array.from({ length: 100 }, () => state.keys.find(record().digest)));
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
    state.failing = false;
    await Promise.all(Array.from({ length: 100 }, () => state.keys.find(record().digest)));
    expect(state.asked).toBe(2);
  });

  test('the number of remembered keys is bounded, and guesses displace none that exist', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    for (let number = 2; number < REMEMBERED_MAX + 3; number += 1) await state.keys.find(digestOf(number));
    const { asked } = state;
    await state.keys.find(record().digest);
    await state.keys.find(digestOf(REMEMBERED_MAX + 2));
    expect(state.asked).toBe(asked);
    await state.keys.find(digestOf(2));
    expect(state.asked).toBe(asked + 1);
  });

  test('two digests with the same first characters are two keys', async () => {
    const state = sharedStore();
    state.records.set(record().digest, record());
    await state.keys.find(record().digest);
    expect(await state.keys.find(record().digest.replace(/.$/, '1'))).toBeNull();
  });
});
