import { connectionOf } from './connection.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { CUT_SHORT, Rejection } from './rejection.ts';

/**
 * Reads the body of a request, of which no more than the limit is kept.
 *
 * @param maxBytes The longest body that is accepted.
 * @throws Rejection 413 for a longer body; 400 for one that is malformed or ends too early; 408 for one that arrives too late.
 */
export function readBody(request: IncomingRequest, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new Body(maxBytes);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      reject(tooLarge(maxBytes));
      return;
    }
    if (request.destroyed) {
      reject(request.errored ?? CUT_SHORT);
      return;
    }
    connectionOf(request.socket).readInTurn(request, (chunk) => {
      if (!body.add(chunk)) reject(tooLarge(maxBytes));
    });
    request.on('end', () => resolve(body.bytes()));
    request.on('error', reject);
    // A client that goes away causes no error of the stream unless somebody listens for it.
    request.on('close', () => reject(CUT_SHORT));
  });
}

/** The bytes of a body. They are copied if there are several chunks: an object for each can take a hundred times its length. */
class Body {
  readonly #max: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns Whether it is still short enough. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#max) {
      this.#bytes = Buffer.alloc(0);
      this.#length = Number.POSITIVE_INFINITY;
      return false;
    }
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], Math.min(2 * length, this.#max));
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
    return true;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

function tooLarge(maxBytes: number): Rejection {
  return new Rejection(413, `the body must be at most ${maxBytes} bytes`);
}
