import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { parse } from '@animal-store/exact-json';
import { CLIENT_MESSAGES, HttpError, invalidRequest } from './http-error.ts';
import { onBodyRejected } from './rejection.ts';

/** The largest body that is read, in bytes. */
export const BODY_MAX_BYTES = 64 * 1024;

/** In how many chunks a body may arrive: each costs more than its bytes. The connection of another is closed. */
export const CHUNKS_MAX = 1_000;

const JSON_MEDIA_TYPE = /^application\/json[\t ]*(?:;|$)/i;
/** Content codings that mean none; an empty element of the list counts as such (RFC 9110, section 5.6.1.2). */
const IDENTITY = /^[\t ]*(?:identity)?[\t ]*$/i;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * @throws HttpError `unsupported_media_type` unless the body is declared as plain JSON; parameters are ignored.
 * `invalid_request` for a transfer coding that is not understood here (RFC 9112, section 6.1).
 */
export function requireJson({ headers }: IncomingMessage): void {
  if (!JSON_MEDIA_TYPE.test(headers['content-type'] ?? '')) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentType);
  }
  if (headers['content-encoding']?.split(',').some((coding) => !IDENTITY.test(coding))) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentEncoding);
  }
  const transferCoding = headers['transfer-encoding'];
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    throw invalidRequest(CLIENT_MESSAGES.transferEncoding);
  }
}

let inProgress = 0;

/** How many bodies are being read. A client decides how long that takes. */
export const bodiesInProgress = (): number => inProgress;

/**
 * Reads the body of a request, of which no more than {@link BODY_MAX_BYTES} are kept.
 *
 * @throws HttpError `payload_too_large`; `invalid_request` if the body is malformed, late or cut off.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  inProgress += 1;
  try {
    return await receive(request);
  } finally {
    inProgress -= 1;
  }
}

function receive(request: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const tooLarge = () => reject(new HttpError('payload_too_large', CLIENT_MESSAGES.bodyIsTooLarge(BODY_MAX_BYTES)));
  const incomplete = () => reject(invalidRequest(CLIENT_MESSAGES.bodyIsIncomplete));
  // Absent if the body is chunked.
  const declared = Number(request.headers['content-length'] ?? BODY_MAX_BYTES);
  if (declared > BODY_MAX_BYTES) tooLarge();
  // No body was declared.
  else if (request.readableEnded) resolve(Buffer.alloc(0));
  else if (request.destroyed) incomplete();
  else {
    // The chunks are copied: an object for each can take a hundred times its length.
    const body = Buffer.allocUnsafe(declared);
    let length = 0;
    let chunks = 0;
    request.on('data', (chunk: Buffer) => {
      chunks += 1;
      if (chunks > CHUNKS_MAX) return request.destroy();
      if (length + chunk.length > body.length) return tooLarge();
      length += chunk.copy(body, length);
    });
    request.on('end', () => resolve(body.subarray(0, length)));
    onBodyRejected(request, reject);
    request.on('error', incomplete);
    request.on('close', () => {
      if (!request.readableEnded) incomplete();
    });
  }
  return promise;
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
