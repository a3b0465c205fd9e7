import { isUtf8 } from 'node:buffer';
import { parse } from '@animal-store/exact-json';
import { BODY_IS_INCOMPLETE, BODY_IS_TOO_LARGE, HttpError, invalidRequest } from './errors.ts';
import { BODY_MAX_BYTES, CLIENT_MESSAGES } from './messages.ts';

/** A request as handlers read it: made of a Fetch API request, or by a server that has a faster way. */
export interface Incoming {
  /** null if it is unknown. */
  readonly clientAddress: string | null;
  /** The value of a header field, by its lower-case name; those of repeated fields are joined with a comma and a space. */
  header(name: string): string | undefined;
  /**
   * Reads the body, of which no more than {@link BODY_MAX_BYTES} are kept.
   *
   * @throws HttpError `payload_too_large`; `invalid_request` if the body is malformed, late or cut off.
   */
  readBody(): Promise<Buffer>;
}

/** The request of a Fetch API request, whose body is counted while it is read. */
export function fromFetch({ headers, body }: Request): Incoming {
  return {
    clientAddress: null,
    header: (name) => headers.get(name) ?? undefined,
    async readBody() {
      if (Number(headers.get('content-length')) > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
      const chunks: Uint8Array[] = [];
      let length = 0;
      try {
        for await (const chunk of body ?? []) {
          length += chunk.length;
          if (length > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
          chunks.push(chunk);
        }
      } catch (error) {
        throw error === BODY_IS_TOO_LARGE ? error : BODY_IS_INCOMPLETE;
      }
      return Buffer.concat(chunks);
    },
  };
}

const JSON_MEDIA_TYPE = /^application\/json[\t ]*(?:;|$)/i;
/** Content codings that mean none: an empty element of the list counts as such (RFC 9110, section 5.6.1.2). */
const IDENTITY: readonly string[] = ['', 'identity'];
/** Otherwise `trim` would remove more than spaces and tabs (RFC 9110, section 5.6.3). */
const PRINTABLE_ASCII = /^[\t -~]*$/;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * @throws HttpError `unsupported_media_type` unless the body is declared as plain JSON; parameters are ignored.
 * `invalid_request` for a transfer coding that is not understood here (RFC 9112, section 6.1).
 */
export function requireJson(incoming: Incoming): void {
  if (!JSON_MEDIA_TYPE.test(incoming.header('content-type') ?? '')) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentType);
  }
  const codings = incoming.header('content-encoding');
  if (codings !== undefined && !isIdentity(codings)) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentEncoding);
  }
  const transferCoding = incoming.header('transfer-encoding');
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    throw invalidRequest(CLIENT_MESSAGES.transferEncoding);
  }
}

function isIdentity(codings: string): boolean {
  const isPlain = codings.split(',').every((coding) => IDENTITY.includes(coding.trim().toLowerCase()));
  return isPlain && PRINTABLE_ASCII.test(codings);
}

/**
 * Parses the JSON of a body, with integers as bigints.
 *
 * @throws HttpError `invalid_request` if the bytes are not JSON in UTF-8 without a byte order mark (RFC 8259, 8.1).
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw invalidRequest(CLIENT_MESSAGES.bodyIsEmpty);
  if (!isUtf8(bytes)) throw invalidRequest(CLIENT_MESSAGES.bodyIsNotUtf8);
  const text = bytes.toString();
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) throw invalidRequest(CLIENT_MESSAGES.bodyBeginsWithMark);
  try {
    return parse(text);
  } catch (error) {
    throw invalidRequest(`${CLIENT_MESSAGES.bodyIsNotJson}: ${(error as SyntaxError).message}`);
  }
}
