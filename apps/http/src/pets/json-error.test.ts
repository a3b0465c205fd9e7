import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeJsonError } from './json-error.ts';

describe('describeJsonError', () => {
  test.each([
    // An object that JavaScript has converted to a string, and what other languages write for nothing.
    ['[object Object]', `line 1, column 2: expected a value or ']', was "object"`],
    ['undefined', 'line 1, column 1: expected a value, was "undefined"'],
    ['{"status":None}', 'line 1, column 11: expected a value, was "None"'],
    ['{"categoryId":NaN}', 'line 1, column 15: expected a value, was "NaN"'],
    // Not JSON at all.
    ['name=Rex&categoryId=1', 'line 1, column 1: expected a value, was "name"'],
    ['<pet/>', 'line 1, column 1: expected a value, was "<"'],
    ["{'name':'Rex'}", `line 1, column 2: expected a name in double quotes or '}', was "'"`],
    ['{name:"Rex"}', `line 1, column 2: expected a name in double quotes or '}', was "name"`],
    ['{"name":“Rex”}', 'line 1, column 9: expected a value, was "“"'],
    ['// Rex\n{}', 'line 1, column 1: expected a value, was "/"'],
    // One character too many or too few.
    ['{"name":}', 'line 1, column 9: expected a value, was "}"'],
    ['{"name":"Rex",}', 'line 1, column 15: expected a name in double quotes, was "}"'],
    ['[1,]', 'line 1, column 4: expected a value, was "]"'],
    ['{"name":"Rex"\n "categoryId":1}', `line 2, column 2: expected ',' or '}', was "\\""`],
    ['[1 2]', `line 1, column 4: expected ',' or ']', was "2"`],
    ['{"name" "Rex"}', `line 1, column 9: expected ':', was "\\""`],
    ['{}}', 'line 1, column 3: expected nothing more, was "}"'],
    ['{"name":"Rex"}\n{"name":"Max"}', 'line 2, column 1: expected nothing more, was "{"'],
    ['[1}', `line 1, column 3: expected ',' or ']', was "}"`],
    // Numbers.
    ['{"categoryId":01}', `line 1, column 16: expected ',' or '}', was "1"`],
    ['{"categoryId":+1}', 'line 1, column 15: expected a value, was "+1"'],
    ['{"categoryId":.5}', 'line 1, column 15: expected a value, was ".5"'],
    ['{"categoryId":1.}', `line 1, column 16: expected ',' or '}', was "."`],
    ['-', 'line 1, column 1: expected a value, was "-"'],
    // Strings.
    ['"Re\nx"', 'line 1, column 4: expected an escape sequence for a control character, was "\\n"'],
    ['"\\x"', `line 1, column 2: expected an escape sequence like '\\n' or '\\u00e9', was "\\\\x"`],
    // The text ends too early.
    ['', 'line 1, column 1: expected a value, but the body ends'],
    ['\n', 'line 2, column 1: expected a value, but the body ends'],
    ['{"name":"Rex"', "line 1, column 14: expected ',' or '}', but the body ends"],
    ['"Rex', `line 1, column 5: expected '"' at the end of the string, but the body ends`],
    // Columns count characters as people do, and quotes are short.
    ['{"🐕":🐕}', 'line 1, column 6: expected a value, was "🐕"'],
    ['x'.repeat(1_000), `line 1, column 1: expected a value, was "${'x'.repeat(40)}"…`],
  ])('of %j gives the position and the character found there', (text, description) => {
    expect(describeJsonError(text)).toBe(description);
  });

  test('finds an error exactly if JSON.parse does', () => {
    const piece = fc.constantFrom(...'{}[]",:\\/-+.eE01789 \t\n\r\u0000\u00a0x'.split(''), 'true', 'null', '\\u00e9');
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.nat(2), fc.array(piece, { maxLength: 2 }))
      .map(([json, place, removed, added]) => {
        const at = place % (json.length + 1);
        return json.slice(0, at) + added.join('') + json.slice(at + removed);
      });
    let errors = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          broken,
          fc.array(piece).map((pieces) => pieces.join('')),
        ),
        (text) => {
          let isJson = true;
          try {
            JSON.parse(text);
          } catch {
            isJson = false;
            errors += 1;
          }
          expect(describeJsonError(text) === null).toBe(isJson);
        },
      ),
      { numRuns: 3_000 },
    );
    expect(errors).toBeGreaterThan(500);
  });

  test('takes little time for the largest body, however it is broken', () => {
    const begin = performance.now();
    for (const text of ['[', '{"a":', '"', '\\', '"\\n', '1e', '\n', '"\\u00e9']) {
      describeJsonError(text.repeat(65_536 / text.length));
    }
    expect(performance.now() - begin).toBeLessThan(500);
  });
});
