import { expect, test } from 'vitest';
import { forwardedAddress } from './record.ts';

test.each([
  ['198.51.100.1, 203.0.113.9', 1, '203.0.113.9'],
  ['198.51.100.1, 203.0.113.9', 2, '198.51.100.1'],
  ['203.0.113.9:17085', 1, '203.0.113.9'],
  ['2001:db8::1', 1, '2001:db8::1'],
  ['[2001:db8::1]', 1, '2001:db8::1'],
  ['[2001:db8::1]:17085', 1, '2001:db8::1'],
  ['203.0.113.9', 2, null],
  ['203.0.113.999', 1, null],
  ['unknown', 1, null],
  ['_hidden:1', 1, null],
  ['', 1, null],
])('X-Forwarded-For: %s behind %d proxies is %s', (field, proxies, address) => {
  expect(forwardedAddress(field, proxies)).toBe(address);
});
