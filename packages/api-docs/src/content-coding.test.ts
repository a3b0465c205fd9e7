import { describe, expect, test } from 'vitest';
import { preferredCoding } from './content-coding.ts';

describe('preferredCoding', () => {
  test.each([
    // As browsers and clients send it.
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip', 'gzip'],
    ['*', 'br'],
    // Weights.
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['gzip;q=0.1', 'gzip'],
    ['identity, br;q=0.9', 'identity'],
    ['identity;q=0.5, br;q=0.9', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    [' GZIP ; Q=0.8 ,deflate', 'gzip'],
    // None that the service has.
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['deflate', 'identity'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*;q=0', 'identity'],
    // Malformed.
    ['br;q=x', 'identity'],
    ['br gzip', 'identity'],
    ['br;q=..', 'identity'],
    [',;,br', 'br'],
  ])('of %j is %s', (field, coding) => {
    expect(preferredCoding(field)).toBe(coding);
  });
});
