import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VARIABLES } from './configuration.ts';

/** Read as they are, beside the table of variables: they hold secrets, belong to one storage, or to Node. */
const OTHERS = ['API_KEYS', 'MONGODB_URL', 'NODE_ENV', 'SQLITE_FILE'];

test('the manual has every variable, with its default and its rule', () => {
  const manual = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const rows = [...manual.matchAll(/^\| `([A-Z_]+)` +\| (.*?) *\| (.*?) *\|/gm)].map(([, name, fallback, rule]) => [
    name,
    fallback,
    rule,
  ]);
  const expected = Object.entries(VARIABLES).map(([name, { fallback, rule }]) => [name, fallback, rule]);
  const documented = rows.filter(([name]) => !OTHERS.includes(name as string));
  expect(documented).toEqual(expected);
  expect(
    rows
      .map(([name]) => name)
      .filter((name) => OTHERS.includes(name as string))
      .sort(),
  ).toEqual(OTHERS);
});
