import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Rejection } from './rejection.ts';

/** A request. Its stream fails with a {@link Rejection} if the body is malformed or too late. */
export class IncomingRequest extends IncomingMessage {
  /** Where the client is asked for the body, if it waits for that. */
  #asking: ServerResponse | null = null;
  #rejection: Rejection | null = null;

  /** Whether the client holds the body back until it is asked for it (RFC 9110, section 10.1.1). */
  get awaitsContinue(): boolean {
    return this.#asking !== null;
  }

  /** Whether the request has a body that has not arrived completely. */
  get isBodyIncomplete(): boolean {
    const { headers } = this;
    return !this.complete && ((headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined);
  }

  /** Has the client asked for the body with `100 Continue` as soon as the body is read. */
  continueOnRead(response: ServerResponse): void {
    this.#asking = response;
  }

  /** Ends the stream of the body with an error. The connection stays open for the response. */
  reject(rejection: Rejection): void {
    this.#rejection = rejection;
    this.destroy(rejection);
  }

  override _read(size: number): void {
    if (this.#asking !== null) {
      // Node reads what the listener left unread, after the response.
      if (!this.#asking.headersSent) this.#asking.writeContinue();
      this.#asking = null;
    }
    super._read(size);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Node would close the connection.
    if (this.#rejection === null) super._destroy(error, callback);
    else callback(this.listenerCount('error') === 0 ? null : error);
  }
}
