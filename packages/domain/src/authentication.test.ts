import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeApiKey, generateApiKey } from './api-key.ts';
import { createAuthentication } from './authentication.ts';
import type { KeyStore } from './key-store.ts';

const digest = (text: string) => text.padEnd(64, '0');

test.each([
  [
    'at once',
    () => {
      throw new Error('out of reach');
    },
  ],
  ['later', () => Promise.reject(new Error('out of reach'))],
  [
    'later, by something that is like a promise',
    // biome-ignore lint/suspicious/noThenProperty: that is what it is about.
    () => ({ then: (_fulfilled: unknown, rejected: (error: Error) => void) => rejected(new Error('out of reach')) }),
  ],
] as unknown as [string, KeyStore['recordUse']][])(
  'a good key is accepted even where its use cannot be noted, told %s',
  async (_when, recordUse) => {
    const key = generateApiKey(randomBytes);
    const record = describeApiKey(key, { holder: 'the zoo', digest, createdAt: 1, expiresAt: null });
    const nothing = () => null;
    const issuedKeys: KeyStore = { add() {}, find: () => record, list: () => [], revoke: nothing, recordUse };
    const authenticate = createAuthentication({ configuredKeys: new Map(), issuedKeys, digest, clock: () => 2 });
    // A rejection that nobody handles would fail the run.
    expect(await authenticate(key)).toBe('the zoo');
    await new Promise((resolve) => setTimeout(resolve, 10));
  },
);

test('a key in constant use is noted at its first use, and then once a minute', () => {
  const noon = 1_800_000_000_000;
  const key = generateApiKey(randomBytes);
  let record = describeApiKey(key, { holder: 'the zoo', digest, createdAt: 1, expiresAt: null });
  const notes: number[] = [];
  const issuedKeys: KeyStore = {
    add() {},
    find: () => record,
    list: () => [],
    revoke: () => null,
    recordUse(_id, at) {
      notes.push(at);
      record = { ...record, lastUsedAt: at };
    },
  };
  const time = { now: noon };
  const authenticate = createAuthentication({ configuredKeys: new Map(), issuedKeys, digest, clock: () => time.now });
  for (; time.now < noon + 180_000; time.now += 500) expect(authenticate(key)).toBe('the zoo');
  expect(notes).toEqual([noon, noon + 60_000, noon + 120_000]);
});
