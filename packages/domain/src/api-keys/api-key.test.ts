import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ApiKey, generateApiKey, isUsable, visiblePrefixOf } from './api-key.ts';

describe('generateApiKey', () => {
  test('makes keys of the published form that never repeat', () => {
    const keys = Array.from({ length: 1_000 }, () => generateApiKey(randomBytes));
    for (const key of keys) expect(key).toMatch(/^anst_[0-9A-Za-z]{36}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('uses every character about as often as any other', () => {
    const counts = new Map<string, number>();
    for (let count = 0; count < 2_000; count += 1) {
      for (const character of generateApiKey(randomBytes).slice(5)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(62);
    // 72,000 draws, 1,161 expected of each: 6 standard deviations are 203. A byte modulo 62 without rejection is off by 25 %.
    for (const [character, count] of counts) {
      expect(Math.abs(count - 72_000 / 62), `${character}: ${count}`).toBeLessThan(203);
    }
  });

  test('asks for more random bytes until there are enough', () => {
    let calls = 0;
    const key = generateApiKey((size) => {
      calls += 1;
      // Bytes from 248 on are not used.
      return new Uint8Array(size).fill(calls < 4 ? 255 : 61);
    });
    expect(key.slice(5)).toBe('z'.repeat(36));
    expect(calls).toBe(4);
  });
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
