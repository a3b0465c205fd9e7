import type { IncomingMessage } from 'node:http';
import { MAX_HEADER_SIZE } from './size-limits.ts';

/** Why a request is rejected before the listener gets it, or while the listener reads its body. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
  /** The status of the response: 400, 408, 413 or 431. */
  readonly status: number;

  /** @param message For the client: which rule the request breaks. */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

// Rejections are made once, because capturing a stack costs more than the rest of one.
export const TIMED_OUT = new Rejection(408, 'the request did not arrive in time');
export const INCOMPLETE_BODY = new Rejection(400, 'the request ended before its body did');
export const NO_TUNNELS = new Rejection(400, 'CONNECT is not supported');
const NO_AUTHORITY = new Rejection(400, 'the host in the request target is empty');
const NOT_HTTP = new Rejection(400, 'this is not a valid HTTP/1.1 request');
const UNKNOWN_VERSION = new Rejection(400, 'only HTTP/1.1 and HTTP/1.0 are supported');
const BAD_HOST = new Rejection(400, 'send one Host field that names a host, or host:port');

/** The rejections by the codes of errors that Node's server and its parser (llhttp) report. */
const PARSER_REJECTIONS: Readonly<Record<string, Rejection>> = {
  ERR_HTTP_REQUEST_TIMEOUT: TIMED_OUT,
  HPE_HEADER_OVERFLOW: new Rejection(
    431,
    `the request target and the header fields must have fewer than ${MAX_HEADER_SIZE} bytes in total`,
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Rejection(413, 'the chunk extensions are too large'),
  HPE_INVALID_METHOD: bad('the request must begin with an HTTP method in capitals'),
  HPE_INVALID_URL: bad('the request target must be a path of ASCII characters: percent-encode others'),
  HPE_INVALID_CONSTANT: bad('after the request target must come HTTP/1.1: percent-encode a blank in the target as %20'),
  HPE_INVALID_VERSION: bad('the first line must end in HTTP/1.1 or HTTP/1.0, and CRLF'),
  HPE_INVALID_HEADER_TOKEN: bad('a header field is malformed'),
  HPE_INVALID_CONTENT_LENGTH: bad('the Content-Length field is malformed, or sent with Transfer-Encoding'),
  HPE_UNEXPECTED_CONTENT_LENGTH: bad('send one Content-Length field, and none with Transfer-Encoding'),
  HPE_INVALID_TRANSFER_ENCODING: bad('the Transfer-Encoding field is malformed, or sent with Content-Length'),
  HPE_CR_EXPECTED: bad('a line must end in CRLF'),
  HPE_LF_EXPECTED: bad('a line must end in CRLF'),
  HPE_STRICT: bad('a line, or a chunk of the body, is malformed'),
  HPE_INVALID_CHUNK_SIZE: bad('a chunk of the body is malformed'),
  HPE_INVALID_EOF_STATE: bad('the connection ended before the request did'),
};

function bad(message: string): Rejection {
  return new Rejection(400, message);
}

/** The rejection for an error of `clientError`. */
export function parserRejection({ code }: NodeJS.ErrnoException): Rejection {
  return PARSER_REJECTIONS[String(code)] ?? NOT_HTTP;
}

/** An error of `clientError`. */
interface ParserError extends NodeJS.ErrnoException {
  /** The last input of the parser. */
  readonly rawPacket?: Buffer;
  /** The place of the error in it. */
  readonly bytesParsed?: number;
}

/** Whether malformed bytes begin as a HEAD request. A response to that has no body (RFC 9110, section 9.3.2). */
export function isHead({ rawPacket = Buffer.alloc(0), bytesParsed }: ParserError): boolean {
  const parsed = rawPacket.toString('latin1', 0, bytesParsed);
  const end = parsed.lastIndexOf('\r\n\r\n');
  return parsed.startsWith('HEAD ', end === -1 ? 0 : end + 4);
}

/** An http or https URI without a host (RFC 9110, section 4.2). */
const EMPTY_HOST = /^https?:\/\/(?:[^/?#]*@)?(?:[:/?#]|$)/i;

/** uri-host [":" port] (RFC 9110, section 7.2; RFC 3986, section 3.2): host and port may both be empty. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/**
 * Rejects requests that Node's parser accepts and RFC 9112 does not: versions like HTTP/2.0, a target without a host, and a
 * Host field that is missing (allowed in HTTP/1.0: load balancers probe without it), repeated or malformed (section 3.2).
 * Needs `joinDuplicateHeaders`.
 */
export function headRejection({ headers, httpVersion, httpVersionMajor, url }: IncomingMessage): Rejection | null {
  if (httpVersionMajor !== 1) return UNKNOWN_VERSION;
  if (EMPTY_HOST.test(String(url))) return NO_AUTHORITY;
  const { host } = headers;
  if (host === undefined) return httpVersion === '1.0' ? null : BAD_HOST;
  return HOST.test(host) ? null : BAD_HOST;
}
