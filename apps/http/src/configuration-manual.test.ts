import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VARIABLE_NAMES, VARIABLES } from './configuration.ts';

/** Without a default: what they must be depends on the storage, or is a secret. */
const OTHERS = VARIABLE_NAMES.filter((name) => !(name in VARIABLES)).sort();

test('docs/settings.md has every variable with its default and its rule', () => {
  const manual = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const rows = [...manual.matchAll(/^\| `([A-Z_]+)` +\| (.*?) *\| (.*?) *\|/gm)].map(([, name, fallback, rule]) => [
    name,
    fallback,
    rule,
  ]);
  const expected = Object.entries(VARIABLES).map(([name, { fallback, rule }]) => [name, fallback, rule]);
  const documented = rows.filter(([name]) => !OTHERS.includes(name as string));
  expect(documented).toEqual(expected);
  const others = rows.map(([name]) => name).filter((name) => OTHERS.includes(name as string));
  expect(others.sort(), 'docs/settings.md has a row for each variable of a storage').toEqual(OTHERS);
});
