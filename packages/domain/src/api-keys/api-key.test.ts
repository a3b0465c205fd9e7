import { describe, expect, test } from 'vitest';
import { type ApiKey, generateApiKey, isUsable, visiblePrefixOf } from './api-key.ts';

test('generateApiKey makes each character of four bytes, and draws again for the last eight', () => {
  const keys = Array.from({ length: 256 }, (_, byte) => {
    const draws = [byte, byte, 1];
    return generateApiKey((size) => new Uint8Array(size).fill(draws.shift() as number));
  });
  for (const key of keys) expect(key).toMatch(/^anst_([0-9A-Za-z])\1{35}$/);
  const counts = Map.groupBy(keys.slice(0, 248), (key) => key[5]);
  expect([counts.size, ...new Set(Array.from(counts.values(), ({ length }) => length))]).toEqual([62, 4]);
  expect(new Set(keys.slice(248))).toEqual(new Set([`anst_${'1'.repeat(36)}`]));
  const mixed = (size: number) => Uint8Array.from({ length: size }, (_, index) => 230 + index);
  expect(generateApiKey(mixed)).toBe('anst_ijklmnopqrstuvwxyz0123456789ijklmnop');
});

describe('visiblePrefixOf', () => {
  test('shows the first 9 characters of a well-formed key', () => {
    expect(visiblePrefixOf(`anst_${'0'.repeat(36)}`)).toBe('anst_0000');
  });

  const [secret, other] = ['0'.repeat(36), '-'.repeat(36)];
  const lengths = [`anst_${secret.slice(1)}`, `anst_${secret}0`];
  test.each([...lengths, `xanst_${secret}`, `Anst_${secret}`, `anst_${other}`, `00000${secret}`, ''])(
    'shows nothing of %j, which has not the form of a key: it may be any secret',
    (text) => {
      expect(visiblePrefixOf(text)).toBeNull();
    },
  );
});

test.each([
  [null, null, true],
  [101, null, true],
  [100, null, false],
  [null, 100, false],
  // Revoked by a process whose clock is ahead of this one.
  [null, 101, false],
  [200, 50, false],
])('isUsable judges at 100 a key that expires at %s and was revoked at %s: %s', (expiresAt, revokedAt, usable) => {
  expect(isUsable({ expiresAt, revokedAt } as ApiKey, 100)).toBe(usable);
});
