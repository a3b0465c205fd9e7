import type { BodyReceiver, IncomingRequest } from './incoming-request.ts';
import { Rejection } from './rejection.ts';

/**
 * Reads the body of a request, of which no more than the limit is kept.
 *
 * @param maxBytes The longest body that is accepted.
 * @throws Rejection 413 for a longer body; 400 for one that is malformed or ends too early; 408 for one that arrives too late.
 */
export function readBody(request: IncomingRequest, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) reject(tooLarge(maxBytes));
    else request.receive(new Body(maxBytes, resolve, reject));
  });
}

const EMPTY = Buffer.alloc(0);

/** The bytes of a body. They are copied if there are several chunks: an object for each can take a hundred times its length. */
class Body implements BodyReceiver {
  readonly #max: number;
  readonly #resolve: (bytes: Buffer) => void;
  readonly onFailure: (reason: Rejection) => void;
  #bytes: Buffer = EMPTY;
  #length = 0;

  constructor(max: number, resolve: (bytes: Buffer) => void, reject: (reason: Rejection) => void) {
    this.#max = max;
    this.#resolve = resolve;
    this.onFailure = reject;
  }

  onChunk(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length === Number.POSITIVE_INFINITY) return;
    if (length > this.#max) {
      this.#bytes = EMPTY;
      this.#length = Number.POSITIVE_INFINITY;
      this.onFailure(tooLarge(this.#max));
      return;
    }
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], Math.min(2 * length, this.#max));
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  onEnd(): void {
    const bytes = this.#bytes;
    this.#resolve(bytes.length === this.#length ? bytes : bytes.subarray(0, this.#length));
  }
}

function tooLarge(maxBytes: number): Rejection {
  return new Rejection(413, `the body must be at most ${maxBytes} bytes`);
}
