import { isUtf8 } from 'node:buffer';
import type { Pet } from '@animal-store/domain';
import { exact, parse } from '@animal-store/exact-json';
import { HttpError, invalidRequest } from './errors.ts';
import type { RequestHead } from './incoming-request.ts';
import { CLIENT_MESSAGES } from './messages.ts';

const JSON_MEDIA_TYPE = /^application\/json[\t ]*(?:;|$)/i;
/** A content coding that means none: an empty element of the list counts as such (RFC 9110, section 5.6.1.2). */
const IDENTITY = /^[\t ]*(?:identity[\t ]*)?$/i;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * @throws HttpError `unsupported_media_type` unless the body is declared as plain JSON; parameters are ignored.
 * `invalid_request` for a transfer coding that is not understood here (RFC 9112, section 6.1).
 */
export function requireJson(request: RequestHead): void {
  if (!JSON_MEDIA_TYPE.test(request.header('content-type') ?? '')) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentType);
  }
  const codings = request.header('content-encoding');
  if (codings?.split(',').every((coding) => IDENTITY.test(coding)) === false) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentEncoding);
  }
  const transferCoding = request.header('transfer-encoding');
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    throw invalidRequest(CLIENT_MESSAGES.transferEncoding);
  }
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

/** A pet as `JSON.stringify` writes it: 64-bit integers digit for digit, `status` only if it has one. */
export const toJson = ({ id, name, categoryId, status }: Pet) => ({
  id: exact(id),
  name,
  categoryId: exact(categoryId),
  status,
});
