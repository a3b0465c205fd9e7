import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { exact, parse, stringify } from './index.ts';

describe('parse', () => {
  const zeros = '0'.repeat(120);

  test.each<[string, unknown]>([
    ['9223372036854775807', 9223372036854775807n],
    ['9007199254740993', 9007199254740993n],
    ['-0', 0n],
    ['0e999999999999', 0n],
    ['1e-400', 0],
    ['1.00000000000000000000000001', 1],
    ['9007199254740993.5', 9007199254740994],
    // More than 100 zeros end these integers.
    [`1.${zeros}`, 1n],
    [`-1${zeros}e-120`, -1n],
    [`-0.${zeros}`, 0n],
    ['9'.repeat(100), 10n ** 100n - 1n],
    ['9'.repeat(101), 1e101],
    ['1e100', 10n ** 100n],
    ['1e101', 1e101],
    ['1e999999999999', Number.POSITIVE_INFINITY],
    ['1e-999999999999', 0],
  ])('reads %s', (text, value) => {
    expect(parse(text)).toBe(value);
    expect(parse(`{"id":[${text}],"other":"${text}"}`)).toEqual({ id: [value], other: text });
  });

  // The second text has a number that takes the slower way.
  test.each(['', ',"weight":1.5'])('reads integers at any depth, also under the name __proto__%s', (more) => {
    const value = parse(`{"__proto__":{"id":1},"list":[[-2,"3"],999999999999999,null,true]${more}}`) as object;
    expect(Object.entries(value).slice(0, 2)).toEqual([
      ['__proto__', { id: 1n }],
      ['list', [[-2n, '3'], 999999999999999n, null, true]],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('reads an integer of a million digits as a number, in little time', () => {
    expect(parse(`1${'0'.repeat(1_000_000)}`)).toBe(Number.POSITIVE_INFINITY);
  });

  test('reads any decimal without a fraction as an integer, however it is written', () => {
    // Many zeros, so that many of them are integers.
    const literals = fc.stringMatching(/^-?(?:0|[1-9]\d{0,19}0{0,9})(?:\.(?:0|\d){1,9})?(?:[Ee][+-]?[0-6]?\d)?$/);
    fc.assert(
      fc.property(literals, (literal) => {
        const [decimal, exponent = 0] = literal.split(/e/i) as [string, string?];
        const [whole, fraction = ''] = decimal.split('.') as [string, string?];
        const units = BigInt(whole + fraction) * 10n ** BigInt(80 + Number(exponent) - fraction.length);
        const [integer, rest] = [units / 10n ** 80n, units % 10n ** 80n];
        expect(parse(literal)).toBe(rest === 0n ? integer : Number(literal));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['', '{"name":"Rex"', '{"status":None}', '[1,]', '01', '"a\nb"'])(
    'rejects %j with the words of JSON.parse',
    (text) => {
      const error = (read: (text: string) => unknown) => {
        try {
          return read(text);
        } catch (thrown) {
          return thrown;
        }
      };
      expect(error(parse)).toBeInstanceOf(SyntaxError);
      expect(error(parse)).toEqual(error(JSON.parse));
    },
  );

  test('rejects JSON that is nested too deeply with a SyntaxError', () => {
    expect(parse('['.repeat(500) + ']'.repeat(500))).toBeInstanceOf(Array);
    expect(() => parse('['.repeat(100_000) + ']'.repeat(100_000))).toThrow(
      new SyntaxError('JSON is nested too deeply'),
    );
  });
});

describe('stringify', () => {
  test('writes a bigint with all its digits, which parse reads again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(stringify({ id, nested: [id] })).toBe(`{"id":${id},"nested":[${id}]}`);
        expect(JSON.stringify({ id: exact(id), nested: [exact(id)] })).toBe(stringify({ id, nested: [id] }));
        expect(parse(stringify({ id, nested: [id] }))).toEqual({ id, nested: [id] });
      }),
    );
  });

  test('writes everything else as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringify(value)).toBe(JSON.stringify(value));
      }),
    );
  });
});

describe('a runtime without JSON.rawJSON', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test('is rejected at import, so that no integer is rounded', async () => {
    vi.stubGlobal('JSON', { ...JSON, parse: JSON.parse, stringify: JSON.stringify });
    vi.resetModules();
    await expect(import('./index.ts')).rejects.toThrow('@animal-store/exact-json needs JSON.rawJSON, as Node.js 22');
  });
});
