import { isUtf8 } from 'node:buffer';
import { NumberLiteral, quote } from '@animal-store/domain/transport';
import { findSyntaxError, type JsonSyntaxError, restoreNumber } from '@animal-store/exact-json';
import { HttpError } from '../http/http-error.ts';

const BYTE_ORDER_MARK = 0xfeff;

const toNumberLiteral = (text: string) => new NumberLiteral(text);

/**
 * Reads the body of a creation, so that no digit of `categoryId` is lost. The domain checks the members.
 *
 * @returns What the JSON says; in an object, a `categoryId` that is a number is a bigint, or its literal if it is not an integer.
 * @throws HttpError `invalid_request` if the bytes are not JSON in UTF-8 without a byte order mark (RFC 8259, 8.1).
 */
export function readNewPetBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw malformed('is empty: send a JSON object with name and categoryId');
  if (!isUtf8(bytes)) throw malformed('must be encoded in UTF-8');
  const text = bytes.toString();
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) throw malformed('must not begin with a byte order mark');
  const value = parse(text);
  restoreNumber(value, text, 'categoryId', toNumberLiteral);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(`is not valid JSON at ${describeSyntaxError(text)}`);
  }
}

function describeSyntaxError(text: string): string {
  const { line, column, expected, found } = findSyntaxError(text) as JsonSyntaxError;
  const actual = found === null ? 'but the body ends' : `was ${quote(found)}`;
  return `line ${line}, column ${column}: expected ${expected}, ${actual}`;
}

function malformed(how: string): HttpError {
  return new HttpError('invalid_request', `the body ${how}`);
}
