import { Writable } from 'node:stream';

/** An output that keeps what was written to it. */
export class RecordingOutput extends Writable {
  readonly isTTY: boolean;
  readonly #chunks: Buffer[] = [];

  constructor({ isTTY = false }: { isTTY?: boolean } = {}) {
    super();
    this.isTTY = isTTY;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}
