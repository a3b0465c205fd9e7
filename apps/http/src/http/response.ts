/** Header fields of a response, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** A response before it is written. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | Uint8Array | null;
}

export interface JsonResponse extends HttpResponse {
  readonly body: string;
}

export interface JsonHeaders extends Headers {
  readonly 'content-type': 'application/json';
}

export function jsonHeaders(others?: Headers): JsonHeaders {
  return { 'content-type': 'application/json', ...others };
}

export const JSON_ONLY: JsonHeaders = jsonHeaders();

export function jsonResponse(body: string, status = 200, headers = JSON_ONLY): JsonResponse {
  return { status, headers, body };
}
