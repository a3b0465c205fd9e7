import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { COUNTER_SCHEMA } from './counter-document.ts';
import { KEY_SCHEMA } from './key-document.ts';
import { PET_SCHEMA } from './pet-document.ts';
import { RATE_SCHEMA } from './rate-document.ts';

// A schema in a database is replaced only by one of a higher version: whoever changes one here raises its version, and
// adds a line. What is in a line already stays: databases have it.
test.each([
  ['pets', PET_SCHEMA, { 1: '6fb6f03489dcf051' }],
  ['api_keys', KEY_SCHEMA, { 1: '41a1b5738e873a9d' }],
  ['counters', COUNTER_SCHEMA, { 1: '8f27285f74cb42f0' }],
  ['rates', RATE_SCHEMA, { 1: '4d11eb0fda1ca182' }],
])('the schema of %s is the one of its version', (_, { version, ...rules }, digests: Record<number, string>) => {
  const text = JSON.stringify(rules, (_name, value) => (typeof value === 'bigint' ? `${value}n` : value));
  expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe(digests[version]);
});
