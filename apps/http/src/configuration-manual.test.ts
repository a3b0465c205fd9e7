import { readFileSync } from 'node:fs';
import { STORAGES } from '@animal-store/app-kit';
import { expect, test } from 'vitest';
import { VARIABLES } from './configuration.ts';

const ofStorages = Object.values(STORAGES).flatMap((adapter) => ('variable' in adapter ? adapter.variable : []));
const secrets = ['API_KEYS', ...ofStorages.filter(({ secret }) => secret).map(({ name }) => name)];

/** Variables without a default: they depend on the storage, or are secrets. */
const OTHERS = [
  ...['STORAGE', 'API_KEYS', ...ofStorages.map(({ name }) => name)],
  ...secrets.map((name) => `${name}_FILE`),
].sort();

const manual = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');

test('docs/settings.md has every variable with its default and its rule', () => {
  const lines = manual.replaceAll('\n  ', ' ').matchAll(/^- `([A-Z_]+)`(?: \((.+?)\))?: (.+?)\. /gm);
  const entries = [...lines].map(([, name = '', fallback = '', rule]) => [name, fallback, rule] as const);
  const expected = Object.entries(VARIABLES).map(([name, { fallback, rule }]) => [name, fallback, rule]);
  expect(entries.filter(([name]) => !OTHERS.includes(name))).toEqual(expected);
  const others = entries.map(([name]) => name).filter((name) => OTHERS.includes(name));
  expect(
    others.sort(),
    'docs/settings.md has a line for each variable of a storage, and for each twin of a secret',
  ).toEqual(OTHERS);
});
