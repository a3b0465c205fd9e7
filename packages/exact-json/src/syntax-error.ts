// Tokens of JSON (RFC 8259), each matched where the last one ended.
const SPACE = /[\t\n\r ]*/y;
const NUMBER_OR_KEYWORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** A string without its closing quote, up to the first character that it can't contain. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*/y;

/** What is reported: a word or a number, an escape sequence, or one character. */
const FOUND = /[\w.+-]+|\\.?|./suy;

// Where an object or an array may end, its bracket comes last.
const VALUE = 'a value';
const VALUE_OR_END = "a value or ']'";
const NAME = 'a name in double quotes';
const NAME_OR_END = "a name in double quotes or '}'";
const COLON = "':'";
const COMMA_OR_END = { '{': "',' or '}'", '[': "',' or ']'" };
const NOTHING = 'nothing more';

/** Where a text stops being JSON. */
export interface JsonSyntaxError {
  /** From 1. */
  readonly line: number;
  /** In code points, from 1. */
  readonly column: number;
  /** What may stand there, in words: `a value or ']'`. */
  readonly expected: string;
  /** The word, number or character that stands there; null at the end of the text. */
  readonly found: string | null;
}

/**
 * Finds out where a text stops being JSON (RFC 8259). It takes longer than `JSON.parse`: call it for texts that were rejected.
 *
 * @param text At any depth of nesting.
 * @returns null if the text is JSON.
 * @throws RangeError if a string has millions of escapes.
 */
export function findSyntaxError(text: string): JsonSyntaxError | null {
  let at = 0;
  const open: ('{' | '[')[] = [];
  const skip = (token: RegExp) => {
    token.lastIndex = at;
    const matches = token.test(text) && token.lastIndex > at;
    if (matches) at = token.lastIndex;
    return matches;
  };
  const afterValue = () => {
    const innermost = open.at(-1);
    return innermost === undefined ? NOTHING : COMMA_OR_END[innermost];
  };

  for (let expected: string = VALUE; ; ) {
    skip(SPACE);
    const character = text[at];
    const isValue = expected === VALUE || expected === VALUE_OR_END;
    const isName = expected === NAME || expected === NAME_OR_END;
    if (character === undefined && expected === NOTHING) return null;
    if (character === '"' && (isValue || isName)) {
      skip(STRING);
      if (text[at] !== '"') return errorAt(text, at, inString(text[at]));
      at += 1;
      expected = isName ? COLON : afterValue();
    } else if (isValue && skip(NUMBER_OR_KEYWORD)) {
      expected = afterValue();
    } else if (isValue && (character === '{' || character === '[')) {
      at += 1;
      open.push(character);
      expected = character === '{' ? NAME_OR_END : VALUE_OR_END;
    } else if (character === ':' && expected === COLON) {
      at += 1;
      expected = VALUE;
    } else if (character === ',' && (expected === COMMA_OR_END['{'] || expected === COMMA_OR_END['['])) {
      at += 1;
      expected = expected === COMMA_OR_END['{'] ? NAME : VALUE;
    } else if (character !== undefined && '}]'.includes(character) && expected.endsWith(`or '${character}'`)) {
      at += 1;
      open.pop();
      expected = afterValue();
    } else {
      return errorAt(text, at, expected);
    }
  }
}

function inString(character: string | undefined): string {
  if (character === undefined) return "'\"' at the end of the string";
  return character === '\\'
    ? "an escape sequence like '\\n' or '\\u00e9'"
    : 'an escape sequence for a control character';
}

function errorAt(text: string, at: number, expected: string): JsonSyntaxError {
  const lines = text.slice(0, at).split('\n');
  FOUND.lastIndex = at;
  return {
    line: lines.length,
    column: [...(lines.at(-1) as string)].length + 1,
    expected,
    found: FOUND.exec(text)?.[0] ?? null,
  };
}
