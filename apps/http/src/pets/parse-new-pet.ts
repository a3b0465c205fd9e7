import { isUtf8 } from 'node:buffer';
import { parse } from '@animal-store/exact-json';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import { HttpError } from '../http/http-error.ts';

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Reads the body of a creation with all digits of its numbers. The domain checks the members.
 *
 * @returns What the JSON says: integers are bigints, other numbers are `JSON.rawJSON` objects.
 * @throws HttpError `invalid_request` if the bytes are not JSON in UTF-8 without a byte order mark (RFC 8259, 8.1).
 */
export function parseNewPet(bytes: Buffer): unknown {
  if (bytes.length === 0) throw invalid(CLIENT_MESSAGES.bodyIsEmpty);
  if (!isUtf8(bytes)) throw invalid(CLIENT_MESSAGES.bodyIsNotUtf8);
  const text = bytes.toString();
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) throw invalid(CLIENT_MESSAGES.bodyBeginsWithMark);
  try {
    return parse(text, { integers: 'bigint', others: 'raw', name: 'body' });
  } catch (error) {
    throw error instanceof SyntaxError ? invalid(error.message) : error;
  }
}

function invalid(message: string): HttpError {
  return new HttpError('invalid_request', message);
}
