import { expect, test } from 'vitest';
import { headerValues } from './header-values.ts';

test('headerValues returns the values of one field in their order, however its name is written', () => {
  const raw = ['Accept', 'Host', 'HOST', 'one', 'Cost', 'other', 'host', 'two'];
  expect(headerValues(raw, 'host')).toEqual(['one', 'two']);
  expect(headerValues(raw, 'x-host')).toEqual([]);
});
