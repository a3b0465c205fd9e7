const SPACE = ['\t', '\n', '\r', ' '];

// Tokens of JSON (RFC 8259), each matched at the end of the last one.
const NUMBER_OR_KEYWORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** A string without its closing quote, up to the first character that it can't contain. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*/y;

/** An error quotes a word or a number, an escape sequence, or one character. */
const FOUND = /[\w.+-]+|\\.|./suy;
const MAX_SHOWN_LENGTH = 40;

// What may stand at a place. What comes first and the bracket that comes last say what follows it.
const VALUE = 'a value';
const VALUE_OR_END = "a value or ']'";
const NAME = 'a name in double quotes';
const NAME_OR_END = "a name in double quotes or '}'";
const COLON = "':'";
const COMMA_OR_END_OF_OBJECT = "',' or '}'";
const COMMA_OR_END_OF_ARRAY = "',' or ']'";
const NOTHING = 'nothing more';

/**
 * Finds where a text stops being JSON.
 *
 * @param text A text that is not JSON.
 * @param name Its name in the error.
 * @throws RangeError if a string has millions of escapes.
 */
export function findSyntaxError(text: string, name: string): SyntaxError {
  /** The brackets around the place that has been reached: not by recursion, which limits the depth. */
  const open: string[] = [];
  let at = 0;
  let expected = VALUE;

  /** Moves behind a token. Returns false if there is none. */
  function skip(token: RegExp): boolean {
    token.lastIndex = at;
    const isThere = token.test(text);
    if (isThere) at = token.lastIndex;
    return isThere;
  }

  function afterValue(): string {
    const bracket = open.at(-1);
    if (bracket === undefined) return NOTHING;
    return bracket === '[' ? COMMA_OR_END_OF_ARRAY : COMMA_OR_END_OF_OBJECT;
  }

  for (;;) {
    while (SPACE.includes(text[at] as string)) at += 1;
    const character = text[at];
    const isValue = expected.startsWith(VALUE);
    const isName = expected.startsWith(NAME);
    if (isValue && (character === '{' || character === '[')) {
      at += 1;
      open.push(character);
      expected = character === '{' ? NAME_OR_END : VALUE_OR_END;
    } else if (character === '"' && (isValue || isName)) {
      skip(STRING);
      if (text[at] !== '"') return syntaxError(text, at, name, expectedInString(text[at]));
      at += 1;
      expected = isName ? COLON : afterValue();
    } else if (expected.startsWith(`'${character}'`)) {
      at += 1;
      expected = expected === COMMA_OR_END_OF_OBJECT ? NAME : VALUE;
    } else if (expected.endsWith(`or '${character}'`)) {
      at += 1;
      open.pop();
      expected = afterValue();
    } else if (isValue && skip(NUMBER_OR_KEYWORD)) {
      expected = afterValue();
    } else {
      return syntaxError(text, at, name, expected);
    }
  }
}

function expectedInString(character: string | undefined): string {
  if (character === undefined) return "'\"' at the end of the string";
  return character === '\\'
    ? "an escape sequence like '\\n' or '\\u00e9'"
    : 'an escape sequence for a control character';
}

function syntaxError(text: string, at: number, name: string, expected: string): SyntaxError {
  const lines = text.slice(0, at).split('\n');
  const column = [...(lines.at(-1) as string)].length + 1;
  FOUND.lastIndex = at;
  const found = FOUND.exec(text)?.[0];
  const actual = found === undefined ? `but the ${name} ends` : `was ${shown(found)}`;
  return new SyntaxError(
    `the ${name} is not valid JSON at line ${lines.length}, column ${column}: expected ${expected}, ${actual}`,
  );
}

function shown(found: string): string {
  return found.length <= MAX_SHOWN_LENGTH
    ? JSON.stringify(found)
    : `${JSON.stringify(found.slice(0, MAX_SHOWN_LENGTH))}…`;
}
