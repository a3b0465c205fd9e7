import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { parse } from '@animal-store/exact-json';
import { CLIENT_MESSAGES } from './client-messages.ts';
import { HttpError } from './http-error.ts';

/** The largest body that is read, in bytes. */
export const BODY_MAX_BYTES = 64 * 1024;

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
  const codings = headers['content-encoding'];
  if (codings?.split(',').some((coding) => !IDENTITY.test(coding))) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentEncoding);
  }
  const transferCoding = headers['transfer-encoding'];
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    throw invalid(CLIENT_MESSAGES.transferEncoding);
  }
}

/**
 * Parses the JSON of a body, with integers as bigints.
 *
 * @throws HttpError `invalid_request` if the bytes are not JSON in UTF-8 without a byte order mark (RFC 8259, 8.1).
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw invalid(CLIENT_MESSAGES.bodyIsEmpty);
  if (!isUtf8(bytes)) throw invalid(CLIENT_MESSAGES.bodyIsNotUtf8);
  const text = bytes.toString();
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) throw invalid(CLIENT_MESSAGES.bodyBeginsWithMark);
  try {
    return parse(text);
  } catch (error) {
    throw invalid(`${CLIENT_MESSAGES.bodyIsNotJson}: ${(error as SyntaxError).message}`);
  }
}

const invalid = (message: string) => new HttpError('invalid_request', message);
