import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSyntaxError } from './syntax-error.ts';

describe(findSyntaxError, () => {
  test.each([
    // An object that JavaScript has converted to a string, and what other languages write for nothing.
    ['[object Object]', 1, 2, `a value or ']'`, 'object'],
    ['undefined', 1, 1, 'a value', 'undefined'],
    ['{"status":None}', 1, 11, 'a value', 'None'],
    ['{"categoryId":NaN}', 1, 15, 'a value', 'NaN'],
    // Not JSON at all.
    ['name=Rex&categoryId=1', 1, 1, 'a value', 'name'],
    ['<pet/>', 1, 1, 'a value', '<'],
    ["{'name':'Rex'}", 1, 2, `a name in double quotes or '}'`, "'"],
    ['{name:"Rex"}', 1, 2, `a name in double quotes or '}'`, 'name'],
    ['{"name":“Rex”}', 1, 9, 'a value', '“'],
    ['// Rex\n{}', 1, 1, 'a value', '/'],
    // One character too many or too few.
    ['{"name":}', 1, 9, 'a value', '}'],
    ['{"name":"Rex",}', 1, 15, 'a name in double quotes', '}'],
    ['[1,]', 1, 4, 'a value', ']'],
    ['{"name":"Rex"\n "categoryId":1}', 2, 2, `',' or '}'`, '"'],
    ['[1 2]', 1, 4, `',' or ']'`, '2'],
    ['{"name" "Rex"}', 1, 9, `':'`, '"'],
    ['{}}', 1, 3, 'nothing more', '}'],
    ['{"name":"Rex"}\n{"name":"Max"}', 2, 1, 'nothing more', '{'],
    ['[1}', 1, 3, `',' or ']'`, '}'],
    // Numbers.
    ['{"categoryId":01}', 1, 16, `',' or '}'`, '1'],
    ['{"categoryId":+1}', 1, 15, 'a value', '+1'],
    ['{"categoryId":.5}', 1, 15, 'a value', '.5'],
    ['{"categoryId":1.}', 1, 16, `',' or '}'`, '.'],
    ['-', 1, 1, 'a value', '-'],
    // Strings.
    ['"Re\nx"', 1, 4, 'an escape sequence for a control character', '\n'],
    ['"\\x"', 1, 2, `an escape sequence like '\\n' or '\\u00e9'`, '\\x'],
    // The text ends too early.
    ['', 1, 1, 'a value', null],
    ['\n', 2, 1, 'a value', null],
    ['{"name":"Rex"', 1, 14, "',' or '}'", null],
    ['"Rex', 1, 5, `'"' at the end of the string`, null],
    // Columns count characters as people do.
    ['{"🐕":🐕}', 1, 6, 'a value', '🐕'],
    ['x'.repeat(1_000), 1, 1, `a value`, 'x'.repeat(1_000)],
  ])('finds where %j stops being JSON', (text, line, column, expected, found) => {
    expect(findSyntaxError(text)).toEqual({ line, column, expected, found });
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
          expect(findSyntaxError(text) === null).toBe(isJson);
        },
      ),
      { numRuns: 3_000 },
    );
    expect(errors).toBeGreaterThan(500);
  });

  test('takes little time for the largest body, however it is broken', () => {
    const begin = process.cpuUsage();
    for (const text of ['[', '{"a":', '"', '\\', '"\\n', '1e', '\n', '"\\u00e9']) {
      findSyntaxError(text.repeat(65_536 / text.length));
    }
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1_000).toBeLessThan(500);
  });
});
