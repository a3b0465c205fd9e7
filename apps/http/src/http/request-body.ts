import type { IncomingMessage } from 'node:http';
import { CLIENT_MESSAGES } from './client-messages.ts';
import { HttpError } from './http-error.ts';

/** The largest body that is read, in bytes. */
export const BODY_MAX_BYTES = 64 * 1024;

const JSON_MEDIA_TYPE = /^application\/json[\t ]*(?:;|$)/i;

/**
 * @throws HttpError `unsupported_media_type` unless the body is declared as plain JSON; parameters are ignored.
 * `invalid_request` for a transfer coding that is not understood here (RFC 9112, section 6.1).
 */
export function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type === undefined || !JSON_MEDIA_TYPE.test(type)) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentType);
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && !coding.split(',').every(isIdentity)) {
    throw new HttpError('unsupported_media_type', CLIENT_MESSAGES.contentEncoding);
  }
  const transferCoding = headers['transfer-encoding'];
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    throw new HttpError('invalid_request', CLIENT_MESSAGES.transferEncoding);
  }
}

/** Whether an element of Content-Encoding means no coding. An empty one counts as none (RFC 9110, section 5.6.1.2). */
function isIdentity(coding: string): boolean {
  return /^(?:identity)?$/i.test(coding.trim());
}
