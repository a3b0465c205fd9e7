import { createHash, randomBytes } from 'node:crypto';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createKeyring } from '@animal-store/domain';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, test } from 'vitest';
import { createDevelopmentKey, missingKeys, readApiKeys } from './api-keys.ts';
import { sha256 } from './bearer.ts';

const digest = (key: string) => createHash('sha256').update(key).digest('hex');

function read(text: string) {
  const errors: string[] = [];
  return { keys: readApiKeys({ API_KEYS: text }, errors), errors };
}

describe('readApiKeys', () => {
  test('names the file of keys, not the variable, if it holds two lines', () => {
    const [errors, file]: [string[], string] = [[], freshFile('keys', `${'k'.repeat(16)}\n${'l'.repeat(16)}\n`)];
    readApiKeys({ API_KEYS_FILE: file }, errors);
    expect(errors).toEqual(['API_KEYS_FILE entry 1 contains white space: separate keys with commas']);
  });

  test('gives each key a holder of its own, the same for its digest at any position', () => {
    const [one, other] = ['a-key-of-16-chars', 'another-key-of-20-chars'];
    const { keys, errors } = read(`${one}, sha256:${digest(other).toUpperCase()}`);
    expect(errors).toEqual([]);
    expect([...keys.keys()]).toEqual([digest(one), digest(other)]);
    expect(new Set(keys.values()).size).toBe(2);
    expect(read(`${other},SHA256:${digest(one)}`).keys).toEqual(keys);
  });

  const VISIBLE = String.fromCharCode(...Array.from({ length: 0x5e }, (_, index) => 0x21 + index)).replace(',', '');

  test.each([
    ...[VISIBLE, `''${'k'.repeat(16)}`, `${'k'.repeat(16)}""`],
    ...[`x-sha256:${'a'.repeat(64)}`, `sha-256:${'a'.repeat(64)}`],
  ])('accepts %s as a key of its own', (key) => {
    expect(read(key)).toMatchObject({ keys: new Map([[digest(key), expect.any(String)]]), errors: [] });
  });

  test('finds no key if none is set', () => {
    expect(read('')).toEqual({ keys: new Map(), errors: [] });
    expect(readApiKeys({}, [])).toEqual(new Map());
  });

  test.each([
    [`${'k'.repeat(16)} ${'l'.repeat(16)} m`, 'entry 1 contains white space: separate keys with commas'],
    [`é${'k'.repeat(16)}`, 'entry 1 must be a key of at least 16 visible ASCII characters, its length is 17'],
    [`${'k'.repeat(16)}é`, 'entry 1 must be a key of at least 16 visible ASCII characters, its length is 17'],
    ['k'.repeat(15), 'entry 1 must be a key of at least 16 visible ASCII characters, its length is 15'],
    [`${'k'.repeat(16)},`, 'entry 2 must be a key of at least 16 visible ASCII characters, its length is 0'],
    [`'${'k'.repeat(16)}'`, 'must not be in quotation marks'],
    [`${'k'.repeat(16)}, "sha256:${'a'.repeat(64)}"`, 'entry 2 must not be in quotation marks'],
    ['sha256:', 'entry 1 must be sha256: and 64 hexadecimal digits'],
    [`sha256:${'a'.repeat(63)}`, 'entry 1 must be sha256: and 64 hexadecimal digits'],
    [`sha256:${'g'.repeat(64)}`, 'entry 1 must be sha256: and 64 hexadecimal digits'],
    [`sha256:${'a'.repeat(65)}`, 'entry 1 must be sha256: and 64 hexadecimal digits'],
  ])('rejects %j and does not repeat it', (text, violation) => {
    expect(read(text).errors).toEqual([`API_KEYS ${violation}`]);
  });
});

test('createDevelopmentKey configures the key that it makes, always for the same holder', () => {
  const { key, configuredKeys } = createDevelopmentKey();
  expect([...configuredKeys]).toEqual([[digest(key), 'development']]);
});

test('missingKeys accepts a configured key, or one that is issued and valid', async () => {
  const { keys } = createMemoryStorage();
  const keyring = createKeyring({ keys, digest: sha256, randomBytes, clock: Date.now });
  expect(await missingKeys(new Map(), keys)).toBe(
    'there is no API key: set API_KEYS, or issue a key by animal-store keys issue --holder NAME',
  );
  const { record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
  expect(await missingKeys(new Map(), keys)).toBeNull();
  await keyring.revoke(record.id);
  const message =
    'no API key is valid, all are revoked or expired: set API_KEYS, or issue a key by animal-store keys issue --holder NAME';
  expect(await missingKeys(new Map(), keys)).toBe(message);
  expect(await missingKeys(createDevelopmentKey().configuredKeys, keys)).toBeNull();
  // The valid one is on the second page.
  const issued: string[] = [];
  for (let count = 0; count < 120; count += 1) {
    issued.push((await keyring.issue({ holder: 'the zoo', expiresAt: null })).record.id);
  }
  const last = issued.sort().pop() as string;
  for (const id of issued) await keyring.revoke(id);
  expect(await missingKeys(new Map(), keys)).toBeNull();
  await keyring.revoke(last);
  expect(await missingKeys(new Map(), keys)).toBe(message);
});
