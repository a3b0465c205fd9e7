declare global {
  interface JSON {
    /** JSON text that `JSON.stringify` copies as it is (ECMA-262, JSON.parse source text access; Node.js 21 and newer). */
    rawJSON(text: string): unknown;
  }
}

/** Like `JSON.stringify`, with each bigint as a number of all its digits. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member));
}
