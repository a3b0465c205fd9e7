import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeApiKey, generateApiKey, isUsable, isWellFormedApiKey, visiblePrefixOf } from './api-key.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62(value: number): string {
  return value === 0 ? '' : base62(Math.floor(value / 62)) + DIGITS[value % 62];
}

/** The CRC-32 of a text, computed by zlib, in six digits of base 62. */
const checksumOf = (text: string) => base62(crc32(text)).padStart(6, '0');

describe('generateApiKey', () => {
  test('makes keys of the published form that never repeat', () => {
    const keys = Array.from({ length: 1_000 }, () => generateApiKey(randomBytes));
    for (const key of keys) expect(key).toMatch(/^anst_[0-9A-Za-z]{36}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('ends a key in the CRC-32 of its other characters, in base 62', () => {
    for (let count = 0; count < 200; count += 1) {
      const key = generateApiKey(randomBytes);
      expect(key.slice(-6)).toBe(checksumOf(key.slice(0, -6)));
    }
  });

  test('uses every character about as often as any other', () => {
    const counts = new Map<string, number>();
    for (let count = 0; count < 2_000; count += 1) {
      for (const character of generateApiKey(randomBytes).slice(5, 35)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(62);
    // 60,000 draws, 968 expected of each: 6 standard deviations are 185. A byte modulo 62 without rejection is off by 25 %.
    for (const [character, count] of counts) {
      expect(Math.abs(count - 60_000 / 62), `${character}: ${count}`).toBeLessThan(185);
    }
  });

  test('asks for more random bytes until there are enough', () => {
    let calls = 0;
    const key = generateApiKey((size) => {
      calls += 1;
      // Bytes from 248 on are not used.
      return new Uint8Array(size).fill(calls < 4 ? 255 : 61);
    });
    expect(key.slice(5, 35)).toBe('z'.repeat(30));
    expect(calls).toBe(4);
  });

  test('makes keys whose checksum detects any change of one character and any swap of two', () => {
    fc.assert(
      fc.property(fc.nat({ max: 35 }), fc.constantFrom(...DIGITS), fc.nat({ max: 34 }), (place, character, swapped) => {
        const key = generateApiKey(randomBytes);
        expect(isWellFormedApiKey(key)).toBe(true);
        const at = 5 + place;
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        expect(isWellFormedApiKey(changed)).toBe(changed === key);
        const pair = 5 + swapped;
        const turned = `${key.slice(0, pair)}${key[pair + 1]}${key[pair]}${key.slice(pair + 2)}`;
        expect(isWellFormedApiKey(turned)).toBe(turned === key);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('isWellFormedApiKey', () => {
  test.each([
    ['of the published form', `anst_${'0'.repeat(30)}`, true],
    ['that is too short', `anst_${'0'.repeat(29)}`, false],
    ['that is too long', `anst_${'0'.repeat(31)}`, false],
    ['after something else', `xanst_${'0'.repeat(30)}`, false],
    ['in another case', `Anst_${'0'.repeat(30)}`, false],
    ['of other characters', `anst_${'-'.repeat(30)}`, false],
    ['without the prefix', '0'.repeat(35), false],
  ])('judges a text %s with a right checksum (%s): %s', (_what, text, wellFormed) => {
    expect(isWellFormedApiKey(text + checksumOf(text))).toBe(wellFormed);
  });
});

describe('the record of a key', () => {
  const key = generateApiKey(randomBytes);
  const record = describeApiKey(key, {
    holder: 'the zoo',
    digest: () => 'd'.repeat(64),
    createdAt: 1,
    expiresAt: null,
  });

  test('shows only four characters of the secret', () => {
    expect(record.visiblePrefix).toBe(key.slice(0, 9));
    expect(record.id).toBe('d'.repeat(16));
    expect(JSON.stringify(record)).not.toContain(key.slice(0, 10));
  });

  test.each([
    [null, null, true],
    [101, null, true],
    [100, null, false],
    [null, 100, false],
    // Revoked by a process whose clock is ahead of this one.
    [null, 101, false],
    [200, 50, false],
  ])('is usable at 100 if it expires at %s and was revoked at %s: %s', (expiresAt, revokedAt, usable) => {
    expect(isUsable({ ...record, expiresAt, revokedAt }, 100)).toBe(usable);
  });
});

describe('visiblePrefixOf', () => {
  test('shows the first 9 characters of a well-formed key, and nothing of anything else', () => {
    const key = generateApiKey(randomBytes);
    expect(visiblePrefixOf(key)).toBe(key.slice(0, 9));
    for (const secret of ['', 'the password of somebody', `${key}x`, key.slice(0, -1), key.toUpperCase()]) {
      expect(visiblePrefixOf(secret)).toBeNull();
    }
  });
});
