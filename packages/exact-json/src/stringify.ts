/** ECMA-262, JSON.parse source text access: JSON text that `JSON.stringify` copies as it is. Node.js 21 and newer. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Like `JSON.stringify`, with each bigint as a number of all its digits. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}
