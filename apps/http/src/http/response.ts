/** Header fields of an answer, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** What is answered to a request, before it is written. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | Uint8Array | null;
}

/** The header fields of a JSON answer. */
export interface JsonHeaders extends Headers {
  readonly 'content-type': 'application/json';
}

/** The header fields of a JSON answer, with others beside its type. Made once where they are always the same. */
export function jsonHeaders(others?: Headers): JsonHeaders {
  return Object.freeze({ 'content-type': 'application/json', ...others });
}

/** The header fields of nearly every answer. */
export const JSON_ONLY: JsonHeaders = jsonHeaders();

/** An answer of JSON text. */
export function jsonResponse(body: string, status = 200, headers = JSON_ONLY): HttpResponse {
  return { status, headers, body };
}
