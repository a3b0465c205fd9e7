const SPACE = ['\t', '\n', '\r', ' '];

// Tokens of JSON (RFC 8259), each matched where the last one ended.
const NUMBER_OR_KEYWORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** A string without its closing quote, up to the first character that it can't contain. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*/y;

/** What an error shows: a word or a number, an escape sequence, or one character. */
const FOUND = /[\w.+-]+|\\.?|./suy;
const MAX_SHOWN_LENGTH = 40;

// What may stand at a place. If an object or an array may end there, its bracket comes last.
const VALUE = 'a value';
const VALUE_OR_END = "a value or ']'";
const NAME = 'a name in double quotes';
const NAME_OR_END = "a name in double quotes or '}'";
const COLON = "':'";
const COMMA_OR_END_OF_OBJECT = "',' or '}'";
const COMMA_OR_END_OF_ARRAY = "',' or ']'";
const NOTHING = 'nothing more';

const KEYWORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

/** The members of an object. */
interface Members {
  [name: string]: unknown;
}

type Container = unknown[] | Members;

/**
 * Reads JSON in ten times the time of `JSON.parse`. The last of several members with one name is kept.
 *
 * @param name What an error calls the text.
 * @param toNumber Returns what a number becomes, given as it is written.
 * @throws SyntaxError that says where the text stops being JSON. RangeError if a string has millions of escapes.
 */
export function readJson(text: string, name: string, toNumber: (literal: string) => unknown): unknown {
  let root: unknown;
  /** The containers around the place that has been reached: not by recursion, which limits the depth. */
  const open: Container[] = [];
  let key = '';
  let at = 0;

  function take(token: RegExp): string {
    const start = at;
    token.lastIndex = start;
    if (token.test(text)) at = token.lastIndex;
    return text.slice(start, at);
  }

  function takeString(): string {
    const taken = take(STRING);
    if (text[at] !== '"') throw syntaxError(text, at, name, expectedInString(text[at]));
    at += 1;
    return taken.includes('\\') ? JSON.parse(`${taken}"`) : taken.slice(1);
  }

  function add(value: unknown): void {
    const container = open.at(-1);
    if (container === undefined) root = value;
    else if (Array.isArray(container)) container.push(value);
    // An assignment would set the prototype.
    else if (key === '__proto__') Object.defineProperty(container, key, { value, ...PLAIN_PROPERTY });
    else container[key] = value;
  }

  function afterValue(): string {
    const container = open.at(-1);
    if (container === undefined) return NOTHING;
    return Array.isArray(container) ? COMMA_OR_END_OF_ARRAY : COMMA_OR_END_OF_OBJECT;
  }

  for (let expected = VALUE; ; ) {
    while (SPACE.includes(text[at] as string)) at += 1;
    const character = text[at];
    const isValue = expected === VALUE || expected === VALUE_OR_END;
    if (character === undefined && expected === NOTHING) return root;
    if (isValue && (character === '{' || character === '[')) {
      at += 1;
      const container = character === '{' ? {} : [];
      add(container);
      open.push(container);
      expected = character === '{' ? NAME_OR_END : VALUE_OR_END;
    } else if (isValue && character === '"') {
      add(takeString());
      expected = afterValue();
    } else if (character === '"' && (expected === NAME || expected === NAME_OR_END)) {
      key = takeString();
      expected = COLON;
    } else if (character === ':' && expected === COLON) {
      at += 1;
      expected = VALUE;
    } else if (character === ',' && expected === COMMA_OR_END_OF_OBJECT) {
      at += 1;
      expected = NAME;
    } else if (character === ',' && expected === COMMA_OR_END_OF_ARRAY) {
      at += 1;
      expected = VALUE;
    } else if (character !== undefined && expected.endsWith(`or '${character}'`)) {
      at += 1;
      open.pop();
      expected = afterValue();
    } else {
      const literal = isValue ? take(NUMBER_OR_KEYWORD) : '';
      if (literal === '') throw syntaxError(text, at, name, expected);
      add(Object.hasOwn(KEYWORDS, literal) ? KEYWORDS[literal] : toNumber(literal));
      expected = afterValue();
    }
  }
}

const PLAIN_PROPERTY = { writable: true, enumerable: true, configurable: true };

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
