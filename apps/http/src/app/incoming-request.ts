import { BODY_IS_INCOMPLETE, BODY_IS_TOO_LARGE, HttpError } from './errors.ts';
import { BODY_MAX_BYTES } from './messages.ts';

/** What is known of a request before its body. */
export interface RequestHead {
  /** undefined of bytes that are no request. */
  readonly method?: string | undefined;
  /** null if it is unknown. */
  readonly clientAddress: string | null;
  /** The value of a header field, by its lower-case name; those of repeated fields are joined with a comma and a space. */
  header(name: string): string | undefined;
}

/** A request as guards and handlers read it: made of a Fetch API request, or by a server that has a faster way. */
export interface IncomingRequest extends RequestHead {
  /**
   * Reads the body, of which no more than {@link BODY_MAX_BYTES} are kept.
   *
   * @throws HttpError `payload_too_large`; `invalid_request` if the body is malformed, late or cut off; `service_unavailable`
   * if a stop cuts it off.
   */
  readBody(): Promise<Buffer>;
}

/** The origin of the script that asks by a request whether it may send another one (Fetch, section 3.2.2), or undefined. */
export function preflightOrigin(request: RequestHead): string | undefined {
  if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return undefined;
  return request.header('origin');
}

/** The request of a Fetch API request, whose body is counted while it is read. */
export function fromFetch(request: Request): IncomingRequest {
  return {
    method: request.method,
    clientAddress: null,
    header: (name) => request.headers.get(name) ?? undefined,
    async readBody() {
      if (Number(request.headers.get('content-length')) > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
      const chunks: Uint8Array[] = [];
      let length = 0;
      try {
        for await (const chunk of request.body ?? []) {
          length += chunk.length;
          if (length > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
          chunks.push(chunk);
        }
      } catch (error) {
        throw error instanceof HttpError ? error : BODY_IS_INCOMPLETE;
      }
      return Buffer.concat(chunks);
    },
  };
}
