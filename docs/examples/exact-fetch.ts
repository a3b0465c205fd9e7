/** For a client of Hey API with `bigInt`: a response with each integer that JSON.parse would round as a string of its digits. */
export async function exactFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  const digits = (_name: string, value: unknown, { source }: { source: string }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? source : value;
  const text = JSON.stringify(JSON.parse(await response.text(), digits as (name: string, value: unknown) => unknown));
  const { headers, status } = response;
  return new Response(text, { headers, status });
}

/** A body with each bigint as a number of all its digits. */
export function exactBody(body: unknown): string {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return JSON.stringify(body, (_name, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value));
}
