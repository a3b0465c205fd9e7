import type { Socket } from 'node:net';

/** Fair scheduling for connections that each could keep the event loop busy. */
export class FairScheduler {
  readonly #callbacks: (() => void)[] = [];

  /** Calls back in a later iteration of the event loop: one call in each. */
  schedule(callback: () => void): void {
    if (this.#callbacks.push(callback) === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const callback = this.#callbacks.shift() as () => void;
    if (this.#callbacks.length > 0) setImmediate(this.#next);
    callback();
  };
}

/** Decides when a socket is read. */
export class Reading {
  readonly #socket: Socket;
  readonly #scheduler: FairScheduler;
  /** The number of reasons why nothing is read. */
  #holds = 0;
  #isWaiting = false;

  constructor(socket: Socket, scheduler: FairScheduler) {
    this.#socket = socket;
    this.#scheduler = scheduler;
  }

  /** Reads nothing until {@link release}. Node itself resumes reading at the end of each request. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    this.#socket.on('resume', this.#pause);
    this.#socket.pause();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.#socket.off('resume', this.#pause);
    this.#socket.resume();
  }

  /** Reads nothing until other connections have been served. */
  yieldToOthers(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.hold();
    this.#scheduler.schedule(() => {
      this.#isWaiting = false;
      this.release();
    });
  }

  /** Reads and discards everything from now on, in turn with other connections, whatever it is held for. */
  discard(): void {
    this.#holds = Number.POSITIVE_INFINITY;
    this.#socket.off('resume', this.#pause);
    // Node's parser would make requests of the bytes. A new listener takes them from it.
    this.#socket.removeAllListeners('data').on('data', () => {
      this.#socket.pause();
      this.#scheduler.schedule(() => this.#socket.resume());
    });
    // The parser has read past the stream, which would wait for that read to end before it begins another.
    this.#socket.push('');
    this.#socket.resume();
  }

  readonly #pause = (): void => void this.#socket.pause();
}
