import type { IncomingRequest } from './incoming-request.ts';
import { Rejection } from './rejection.ts';

const EMPTY = Buffer.alloc(0);

/**
 * Reads the body of a request, of which no more than the limit is kept.
 *
 * @param maxBytes The longest body that is accepted.
 * @throws Rejection 413 for a longer body; 400 for one that is malformed or ends too early; 408 for one that arrives too late.
 */
export function readBody(request: IncomingRequest, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      reject(tooLarge(maxBytes));
      return;
    }
    let bytes: Buffer = EMPTY;
    let length = 0;
    request.receive({
      onChunk(chunk) {
        const start = length;
        length += chunk.length;
        if (length > maxBytes) {
          bytes = EMPTY;
          reject(tooLarge(maxBytes));
        } else if (start === 0) {
          bytes = chunk;
        } else {
          // Several chunks are copied: an object for each can take a hundred times its length.
          if (length > bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length, maxBytes));
          chunk.copy(bytes, start);
        }
      },
      onEnd: () => resolve(bytes.length === length ? bytes : bytes.subarray(0, length)),
      onFailure: reject,
    });
  });
}

function tooLarge(maxBytes: number): Rejection {
  return new Rejection(413, `the body must be at most ${maxBytes} bytes`);
}
