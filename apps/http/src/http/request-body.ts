import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './http-error.ts';
import type { Incoming } from './request-target.ts';

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
    throw new HttpError('unsupported_media_type', 'send the animal as Content-Type: application/json');
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    throw new HttpError('unsupported_media_type', 'send the animal without a Content-Encoding');
  }
  const transferCoding = headers['transfer-encoding'];
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    throw new HttpError('invalid_request', 'send the body with no other Transfer-Encoding than chunked');
  }
}

/** Whether a client holds its body back until it is asked for it (RFC 9110, section 10.1.1). */
export function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect?.toLowerCase() === '100-continue' && httpVersion !== '1.0';
}

/**
 * Reads a request's body from Node's stream, which costs a third of reading it through the Fetch API, and of which no
 * more than the limit is ever kept.
 *
 * @param outgoing Where the client is asked for the body, if it waits for that.
 * @throws HttpError `payload_too_large` over {@link BODY_MAX_BYTES}; `invalid_request` where it ends too early.
 */
export function readBody(incoming: Incoming, outgoing: ServerResponse): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers['content-length'] ?? 0) > BODY_MAX_BYTES) {
      reject(tooLarge());
      return;
    }
    if (incoming.destroyed) {
      reject(cutShort());
      return;
    }
    if (expectsContinue(incoming)) {
      outgoing.writeContinue();
      delete incoming.headers.expect;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_MAX_BYTES) {
        chunks.push(chunk);
      } else {
        chunks.length = 0;
        reject(tooLarge());
      }
    });
    incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    // Nobody is left to read the answer; a promise that never settles would keep the request's memory.
    incoming.on('close', () => {
      if (!incoming.readableEnded) reject(incoming.refusal ?? cutShort());
    });
  });
}

function tooLarge(): HttpError {
  return new HttpError('payload_too_large', `the body must be at most ${BODY_MAX_BYTES} bytes`);
}

function cutShort(): HttpError {
  return new HttpError('invalid_request', 'the request ended before its body did');
}
