/** JSON text that `JSON.stringify` copies as it is (ECMA-262, JSON.parse source text access). */
export const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

if (rawJSON === undefined) {
  throw new Error(
    '@animal-store/exact-json needs JSON.rawJSON, as Node.js 22, Bun, Deno, Chrome 114, Firefox 135 and Safari 18.4 have it',
  );
}

/** Like `JSON.stringify`, with each bigint as a number of all its digits. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}
