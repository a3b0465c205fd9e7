/** Header fields of a response, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** A response before it is written. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | Uint8Array | null;
}

/** The header fields of a JSON response. */
export interface JsonHeaders extends Headers {
  readonly 'content-type': 'application/json';
}

/** The header fields of a JSON response, with others beside its type. */
export function jsonHeaders(others?: Headers): JsonHeaders {
  return { 'content-type': 'application/json', ...others };
}

/** The header fields of a JSON response without others. */
export const JSON_ONLY: JsonHeaders = jsonHeaders();

/** A response of JSON text. */
export function jsonResponse(body: string, status = 200, headers = JSON_ONLY): HttpResponse {
  return { status, headers, body };
}
