import { Duplex } from 'node:stream';

/** A connection whose other side is in the scenario. */
export class MemorySocket extends Duplex {
  bytesRead = 0;
  /** What the server has sent. */
  text = '';
  /** Whether the server has ended its side. */
  hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    super({ allowHalfOpen: true });
    this.on('close', () => clearTimeout(this.#timer));
    this.on('error', () => {});
  }

  /** What the client sends; null: it sends nothing more. */
  receive(packet: string | null): void {
    if (this.destroyed) return;
    this.bytesRead += packet?.length ?? 0;
    this.push(packet === null ? null : Buffer.from(packet));
  }

  setTimeout(ms: number): this {
    clearTimeout(this.#timer);
    if (ms > 0) this.#timer = setTimeout(() => this.emit('timeout'), ms);
    return this;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.text += bytes;
    done();
  }

  override _final(done: () => void): void {
    this.hasEnded = true;
    done();
  }
}
