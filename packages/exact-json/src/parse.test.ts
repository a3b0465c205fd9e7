import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from './parse.ts';
import { rawJSON, stringify } from './stringify.ts';

const exact = (literal: string) => parse(literal, { integers: 'bigint', others: 'raw' });

describe('parse', () => {
  test('reads an integer beyond the safe range as a bigint, and others as numbers', () => {
    expect(parse('[9007199254740991, 9007199254740992, -9007199254740992, 9223372036854775807, 7, -0.5, -0]')).toEqual([
      9007199254740991,
      9007199254740992n,
      -9007199254740992n,
      9223372036854775807n,
      7,
      -0.5,
      -0,
    ]);
  });

  test.each([
    ['9007199254740993.0', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['1e30', 10n ** 30n],
    // Rounded to integers, though they are none.
    ['9007199254740993.5', 9007199254740994],
    ['1e-400', 0],
    ['1e400', Number.POSITIVE_INFINITY],
    ['1e308', 1e308],
    ['1.0', 1],
  ])('reads %s', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test("reads every integer as a bigint with integers: 'bigint'", () => {
    expect(parse('{"id":1,"page":[1.0,1e3,-0],"price":1.5,"huge":1e308,"name":"1"}', { integers: 'bigint' })).toEqual({
      id: 1n,
      page: [1n, 1000n, 0n],
      price: 1.5,
      huge: 1e308,
      name: '1',
    });
  });

  test("keeps the text of the other numbers with others: 'raw'", () => {
    const text = `[7,"1.50",1.50,1e400,1e-400,9007199254740993.5,${'1'.repeat(101)}]`;
    expect(stringify(parse(text, { others: 'raw' }))).toBe(text);
    expect(parse('[1.50, 1.0]', { others: 'raw' })).toEqual([rawJSON('1.50'), 1]);
  });
});

describe('an integer', () => {
  test.each([
    ['-0', 0n],
    ['0e999999999999', 0n],
    ['1E+3', 1000n],
    ['-12300.00e-2', -123n],
    ['92233720368547758.07e2', 9223372036854775807n],
  ])('is %s', (literal, integer) => {
    expect(exact(literal)).toBe(integer);
  });

  test.each(['1.00000000000000000000000001', '1e-999999999999', '1E-400', '1e400', '1e999999999999'])(
    'is not %s',
    (literal) => {
      expect(exact(literal)).toEqual(rawJSON(literal));
    },
  );

  test('has at most 100 digits', () => {
    expect(exact('9'.repeat(100))).toBe(10n ** 100n - 1n);
    for (const literal of ['9'.repeat(101), `1${'0'.repeat(1_000_000)}`, `1${'0'.repeat(300_000)}1`]) {
      expect(exact(literal)).toEqual(rawJSON(literal));
    }
    expect(exact(`0.${'0'.repeat(1_000_000)}1e1000001`)).toBe(1n);
  });

  test('is any decimal without a fraction', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 });
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        digits,
        fc.integer({ min: -30, max: 30 }),
        (whole, fraction, exponent) => {
          const literal = `${whole}${fraction === '' ? '' : `.${fraction}`}e${exponent}`;
          // The same number as a fraction of integers: digits / 10^places, by schoolbook arithmetic.
          const magnitude = BigInt(`${whole < 0n ? -whole : whole}${fraction}`);
          const places = fraction.length - exponent;
          const [numerator, denominator] =
            places <= 0 ? [magnitude * 10n ** BigInt(-places), 1n] : [magnitude, 10n ** BigInt(places)];
          const isInteger = numerator % denominator === 0n;
          expect(exact(literal)).toEqual(
            isInteger ? (whole < 0n ? -1n : 1n) * (numerator / denominator) : rawJSON(literal),
          );
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

describe('any JSON', () => {
  const number = fc.oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom('-0', '1.0', '1.50', '1e3', '1e-400'),
  );
  const string = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"a"', '"\\u0061"', '"b"', '"\\u0062"', '"2"', '"1"', '"2.0"', '"__proto__"', '"constructor"'),
  );
  const gap = fc.string({ unit: fc.constantFrom('\t', '\n', '\r', ' '), maxLength: 1 });
  /** JSON texts: names repeat, are escaped in several ways, and change the order of members if they are digits. */
  const { json } = fc.letrec<{ json: string }>((tie) => {
    const member = fc.tuple(gap, string, gap, fc.constant(':'), gap, tie('json'), gap).map((texts) => texts.join(''));
    return {
      json: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        number,
        string,
        fc.constantFrom('true', 'false', 'null', '{}', '[ ]'),
        fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
        fc.array(member, { maxLength: 6 }).map((members) => `{${members.join(',')}}`),
      ),
    };
  });

  /** Reads a text by a reviver of `JSON.parse` that gets the source text of each number. */
  const revived = (text: string, toValue: (literal: string, value: number) => unknown) =>
    JSON.parse(text, (_key, value, context?: { source?: string }) =>
      typeof value === 'number' ? toValue(context?.source as string, value) : value,
    );

  test('equals the result of a reviver of JSON.parse, with any option', () => {
    fc.assert(
      fc.property(json, (text) => {
        const orNumber = (literal: string, value: number) => {
          const integer = exact(literal);
          return typeof integer === 'bigint' ? integer : value;
        };
        const orSafe = (literal: string, value: number) =>
          Number.isSafeInteger(value) ? value : orNumber(literal, value);
        expect(isDeepStrictEqual(parse(text), revived(text, orSafe))).toBe(true);
        expect(isDeepStrictEqual(parse(text, { integers: 'bigint' }), revived(text, orNumber))).toBe(true);
        expect(isDeepStrictEqual(parse(text, { integers: 'bigint', others: 'raw' }), revived(text, exact))).toBe(true);
        // Members in the same order.
        expect(stringify(parse(text, { integers: 'bigint', others: 'raw' }))).toBe(stringify(revived(text, exact)));
      }),
      { numRuns: 3_000 },
    );
  });

  test('is written by stringify and read again to the last digit', () => {
    const integers = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        integers,
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('tree')),
        fc.dictionary(fc.string(), tie('tree'), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(parse(stringify(value), { integers: 'bigint' })).toEqual(value);
      }),
    );
  });

  test('is read at any depth', () => {
    const depth = 100_000;
    for (const [number, value] of [
      ['7', 7n],
      ['9007199254740993', 9007199254740993n],
    ] as const) {
      let inner = parse(`${'['.repeat(depth)}${number}${']'.repeat(depth)}`, { integers: 'bigint' });
      for (let level = 0; level < depth; level += 1) inner = (inner as unknown[])[0];
      expect(inner).toBe(value);
    }
  });
});

describe('a text that is not JSON', () => {
  const messageOf = (text: string, name?: string): string | null => {
    try {
      parse(text, { name });
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
      return (error as Error).message;
    }
    return null;
  };

  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  test.each([
    // An object that JavaScript has converted to a string, and what other languages write for nothing.
    ['[object Object]', 1, 2, `a value or ']'`, 'was "object"'],
    ['undefined', 1, 1, 'a value', 'was "undefined"'],
    ['{"status":None}', 1, 11, 'a value', 'was "None"'],
    ['{"categoryId":NaN}', 1, 15, 'a value', 'was "NaN"'],
    // Not JSON at all.
    ['name=Rex&categoryId=1', 1, 1, 'a value', 'was "name"'],
    ['<pet/>', 1, 1, 'a value', 'was "<"'],
    ["{'name':'Rex'}", 1, 2, `a name in double quotes or '}'`, `was "'"`],
    ['{name:"Rex"}', 1, 2, `a name in double quotes or '}'`, 'was "name"'],
    ['{"name":“Rex”}', 1, 9, 'a value', 'was "“"'],
    ['// Rex\n{}', 1, 1, 'a value', 'was "/"'],
    // One character too many or too few.
    ['{"name":}', 1, 9, 'a value', 'was "}"'],
    ['{"name":"Rex",}', 1, 15, 'a name in double quotes', 'was "}"'],
    ['[1,]', 1, 4, 'a value', 'was "]"'],
    ['{"name":"Rex"\n "categoryId":1}', 2, 2, `',' or '}'`, 'was "\\""'],
    ['[1 2]', 1, 4, `',' or ']'`, 'was "2"'],
    ['{"name" "Rex"}', 1, 9, `':'`, 'was "\\""'],
    ['[1:2]', 1, 3, `',' or ']'`, 'was ":"'],
    ['[,1]', 1, 2, `a value or ']'`, 'was ","'],
    ['{}}', 1, 3, 'nothing more', 'was "}"'],
    ['{"name":"Rex"}\n{"name":"Max"}', 2, 1, 'nothing more', 'was "{"'],
    ['[1}', 1, 3, `',' or ']'`, 'was "}"'],
    // Numbers.
    ['{"categoryId":01}', 1, 16, `',' or '}'`, 'was "1"'],
    ['{"categoryId":+1}', 1, 15, 'a value', 'was "+1"'],
    ['{"categoryId":.5}', 1, 15, 'a value', 'was ".5"'],
    ['{"categoryId":1.}', 1, 16, `',' or '}'`, 'was "."'],
    ['-', 1, 1, 'a value', 'was "-"'],
    ['{"a":[1.25,-2.5e+10,3E-12,4e15],\t"b"\r:true,"c":"\\u00e9\\nab" 5}', 1, 61, `',' or '}'`, 'was "5"'],
    // Strings.
    ['"Re\nx"', 1, 4, 'an escape sequence for a control character', 'was "\\n"'],
    ['"\\x"', 1, 2, `an escape sequence like '\\n' or '\\u00e9'`, 'was "\\\\x"'],
    ['"\\u00x9"', 1, 2, `an escape sequence like '\\n' or '\\u00e9'`, 'was "\\\\u"'],
    ['"\\', 1, 2, `an escape sequence like '\\n' or '\\u00e9'`, 'was "\\\\"'],
    // The text ends too early.
    ['', 1, 1, 'a value', 'but the text ends'],
    ['\n', 2, 1, 'a value', 'but the text ends'],
    ['{"name":"Rex"', 1, 14, "',' or '}'", 'but the text ends'],
    ['"Rex', 1, 5, `'"' at the end of the string`, 'but the text ends'],
    // Columns count characters as people do.
    ['{"🐕":🐕}', 1, 6, 'a value', 'was "🐕"'],
    ['x'.repeat(40), 1, 1, `a value`, `was "${'x'.repeat(40)}"`],
    ['x'.repeat(1_000), 1, 1, `a value`, `was "${'x'.repeat(40)}"…`],
  ])('is a SyntaxError that says where: %j', (text, line, column, expected, actual) => {
    expect(messageOf(text)).toBe(
      `the text is not valid JSON at line ${line}, column ${column}: expected ${expected}, ${actual}`,
    );
  });

  test('has the name that the caller gives it', () => {
    expect(messageOf('{', 'body')).toBe(
      "the body is not valid JSON at line 1, column 2: expected a name in double quotes or '}', but the body ends",
    );
  });

  test('is rejected exactly if JSON.parse rejects it', () => {
    const piece = fc.constantFrom(...'{}[]",:\\/-+.eE01789 \t\n\r\u0000\u00a0x'.split(''), 'true', 'null', '\\u00e9');
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.nat(2), fc.array(piece, { maxLength: 2 }))
      .map(([json, place, removed, added]) => {
        const at = place % (json.length + 1);
        return json.slice(0, at) + added.join('') + json.slice(at + removed);
      });
    const pieces = fc.array(piece).map((texts) => texts.join(''));
    let errors = 0;
    fc.assert(
      fc.property(fc.oneof(broken, pieces), (text) => {
        if (!isJson(text)) errors += 1;
        expect(messageOf(text) === null).toBe(isJson(text));
        // With a number that JSON.parse might round.
        expect(messageOf(`[1.5,${text}`) === null).toBe(isJson(`[1.5,${text}`));
      }),
      { numRuns: 3_000 },
    );
    expect(errors).toBeGreaterThan(500);
  });

  test('takes little time, however it is broken', () => {
    const begin = process.cpuUsage();
    for (const text of ['[', '{"a":', '"', '\\', '"\\n', '1e', '\n', '"\\u00e9']) {
      expect(messageOf(text.repeat(65_536 / text.length))).not.toBeNull();
    }
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1_000).toBeLessThan(500);
  });
});
