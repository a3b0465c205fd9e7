const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

if (rawJSON === undefined) {
  throw new Error(
    '@animal-store/client needs JSON.rawJSON, as Node.js 22, Bun, Deno, Chrome 116, Firefox 135 and Safari 18.4 have it',
  );
}

/** Members that are 64-bit integers (JSON.parse source text access, ECMA-262). */
const INTEGERS: ReadonlySet<string> = new Set(['id', 'categoryId']);

export function parse(text: string): unknown {
  const reviver = (name: string, value: unknown, ...[context]: { readonly source: string }[]) =>
    INTEGERS.has(name) ? BigInt((context as { source: string }).source) : value;
  return JSON.parse(text, reviver);
}

export function stringify(value: unknown): string {
  return JSON.stringify(value, (_name, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}
