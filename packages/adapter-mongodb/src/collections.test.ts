import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { COLLECTION_DEFINITIONS } from './collections.ts';

// A process replaces only a schema of a lower version. Who changes a schema raises its version and adds a line; lines
// that exist stay, because databases have those versions.
const DIGESTS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  pets: { 1: '07d38a8375d3ec69' },
  api_keys: { 1: '41a1b5738e873a9d' },
  counters: { 1: '8f27285f74cb42f0' },
  rates: { 1: '4d11eb0fda1ca182' },
};

test.each(COLLECTION_DEFINITIONS)('the schema of $name is the one of its version', ({ name, schema }) => {
  const { version, ...rules } = schema;
  const text = JSON.stringify(rules, (_name, value) => (typeof value === 'bigint' ? `${value}n` : value));
  expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe(DIGESTS[name]?.[version]);
});
