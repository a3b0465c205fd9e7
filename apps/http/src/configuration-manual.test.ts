import { readFileSync } from 'node:fs';
import { withFileVariables } from '@animal-store/app-kit';
import { expect, test } from 'vitest';
import { VARIABLE_NAMES, VARIABLES } from './configuration.ts';

/** Without a default: what they must be depends on the storage, or is a secret. */
const OTHERS = withFileVariables(VARIABLE_NAMES)
  .filter((name) => !(name in VARIABLES))
  .sort();

test('docs/settings.md has every variable with its default and its rule', () => {
  const manual = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
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
