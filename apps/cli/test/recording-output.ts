import { Writable } from 'node:stream';

/** An output that keeps what was written to it. */
export class RecordingOutput extends Writable {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly #chunks: Buffer[] = [];

  constructor({ isTTY = false, columns = 80 }: { isTTY?: boolean; columns?: number } = {}) {
    super();
    this.isTTY = isTTY;
    this.columns = columns;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}
