// White space, a string, a number, a keyword, or one of the punctuators: JSON's tokens (RFC 8259, section 2).
const TOKEN = /[\t\n\r ]*("[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}[\],:])/y;

/**
 * The number of one member of an object as it is written, digit for digit, without reading the rest.
 *
 * @param text Valid JSON: `JSON.parse` accepts it. Unlike {@link parse} it may be nested to any depth.
 * @param member A name.
 * @returns The literal if the text is an object whose last member of this name is a number, otherwise null.
 * @throws RangeError if a string has millions of escapes.
 */
export function numberLiteral(text: string, member: string): string | null {
  let found: string | null = null;
  let depth = 0;
  let key: string | null = null;
  let expectsKey = false;
  if (!/^[\t\n\r ]*\{/.test(text)) return null;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const token = match[1] as string;
    if (depth === 1 && expectsKey && token.startsWith('"')) {
      key = JSON.parse(token) as string;
      expectsKey = false;
      continue;
    }
    switch (token) {
      case '{':
      case '[':
        if (depth === 1 && key === member) found = null;
        depth += 1;
        if (depth === 1) expectsKey = token === '{';
        break;
      case '}':
      case ']':
        depth -= 1;
        break;
      case ',':
        if (depth === 1) expectsKey = true;
        break;
      case ':':
        break;
      default:
        if (depth === 1 && key === member) found = /^[-0-9]/.test(token) ? token : null;
    }
  }
  return found;
}
