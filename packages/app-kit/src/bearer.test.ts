import { expect, test } from 'vitest';
import { readCredentials } from './bearer.ts';

const KEY = '0123456789abcdef';

test.each([
  [`Bearer ${KEY}`, { kind: 'key', key: KEY }],
  [`bearer ${KEY}`, { kind: 'key', key: KEY }],
  [`BEARER    ${KEY}`, { kind: 'key', key: KEY }],
  ['Bearer a,b', { kind: 'key', key: 'a,b' }],
  [`Basic ${KEY}`, { kind: 'none' }],
  [`Digest username="a", realm="b"`, { kind: 'none' }],
  [`Basic bearer ${KEY}`, { kind: 'none' }],
  ['', { kind: 'none' }],
  ['Bearer', { kind: 'none' }],
  ['Bearer  ', { kind: 'none' }],
  [KEY, { kind: 'none' }],
  [`Bearer${KEY}`, { kind: 'none' }],
  [`Bearer ${KEY} and more`, { kind: 'malformed' }],
  [`Bearer  ${KEY} and more`, { kind: 'malformed' }],
  [`Bearer ${KEY} `, { kind: 'malformed' }],
  [`Bearer\t${KEY}`, { kind: 'malformed' }],
  ['Bearer clé', { kind: 'malformed' }],
  ['Bearer a\u007fb', { kind: 'malformed' }],
])('%j', (field, credentials) => {
  expect(readCredentials([field])).toEqual(credentials);
});

test('treats no field as no credentials, and two fields as malformed', () => {
  expect(readCredentials([])).toEqual({ kind: 'none' });
  expect(readCredentials([`Bearer ${KEY}`, `Bearer ${KEY}`])).toEqual({ kind: 'malformed' });
  expect(readCredentials(['Basic x', 'Basic y'])).toEqual({ kind: 'malformed' });
});
