import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

const addressOf = (forwardedFor: string | undefined, proxies: number, remoteAddress: string | undefined = '10.0.0.9') =>
  clientAddress(
    {
      headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
      socket: { remoteAddress } as Socket,
    },
    proxies,
  );

describe('clientAddress', () => {
  test('is the address of the connection, whatever a client sends, if no proxy is trusted', () => {
    expect(addressOf(undefined, 0)).toBe('10.0.0.9');
    expect(addressOf('203.0.113.7', 0)).toBe('10.0.0.9');
    expect(addressOf(undefined, 0, '::ffff:10.0.0.9')).toBe('10.0.0.9');
    expect(addressOf(undefined, 0, '2001:db8::9')).toBe('2001:db8::9');
    expect(clientAddress({ headers: {}, socket: {} as Socket }, 0)).toBeNull();
  });

  test('is the entry that the outermost trusted proxy wrote', () => {
    expect(addressOf('203.0.113.7', 1)).toBe('203.0.113.7');
    expect(addressOf('198.51.100.1, 203.0.113.7', 1)).toBe('203.0.113.7');
    expect(addressOf('198.51.100.1,203.0.113.7 , 10.0.0.8', 2)).toBe('203.0.113.7');
    expect(addressOf('2001:db8::1', 1)).toBe('2001:db8::1');
  });

  test.each([
    ['203.0.113.42:1234', '203.0.113.42'],
    ['[2001:db8::1]:1234', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
  ])('reads %s without its port', (entry, address) => {
    expect(addressOf(entry, 1)).toBe(address);
  });

  test.each([
    undefined,
    '',
    'unknown',
    '203.0.113.7, ',
    '203.0.113.7"}',
    '203.0.113.256',
    '_hidden',
    '1.2.3.4:',
    ']:1',
    '203.0.113.7:1x',
    '[2001:db8::1]x',
  ])('is the address of the connection if a proxy wrote %j', (entry) => {
    expect(addressOf(entry, 1)).toBe('10.0.0.9');
  });

  test('is the address of the connection if a request came by fewer proxies', () => {
    expect(addressOf('203.0.113.7', 2)).toBe('10.0.0.9');
  });
});
