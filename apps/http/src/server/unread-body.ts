import type { IncomingMessage, ServerResponse } from 'node:http';
import { expectsContinue } from '../http/request-body.ts';
import type { Headers } from '../http/response.ts';
import { closeGently } from './close-gently.ts';
import { takeNoMore } from './connection.ts';

/** A body up to this length is awaited behind its answer, so that the connection can be used again; in bytes. */
const AWAITED_MAX_BYTES = 1024 * 1024;

const CLOSE: Headers = Object.freeze({ connection: 'close' });
const KEEP: Headers = Object.freeze({});

/** Whether a request has a body of which something is still to come. */
export function isBodyUnderWay({ complete, headers }: IncomingMessage): boolean {
  return !complete && ((headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined);
}

/**
 * Lets an answer overtake the body of its request. Many clients read no answer before they have sent all of their body:
 * a connection that is closed with bytes unread is reset, and the answer lost. So what still comes is read and dropped,
 * behind the answer: all of a short body; of others what comes until the client, told so, closes the connection. Both for as
 * long as a request may take to arrive.
 *
 * @param outgoing The answer, of which nothing is written yet.
 * @returns Fields that go with the answer.
 */
export function overtakeBody(incoming: IncomingMessage, outgoing: ServerResponse): Headers {
  const { headers, socket } = incoming;
  const end = outgoing.end.bind(outgoing);
  /** What writes the answer ends it, too: the rest waits for the body. */
  const endWith = (write: (body: string | Uint8Array) => void) => {
    outgoing.end = (body: unknown) => {
      incoming.resume();
      inTurn(outgoing, () => {
        // Where there is no body, writing it writes nothing at all.
        if (body === undefined || incoming.method === 'HEAD') outgoing.flushHeaders();
        write((body ?? '') as string | Uint8Array);
      });
      return outgoing;
    };
  };
  // Who waits for a go-ahead that never comes may send no body at all.
  const length = expectsContinue(incoming) ? Number.NaN : Number(headers['content-length'] ?? Number.NaN);
  if (outgoing.shouldKeepAlive && length <= AWAITED_MAX_BYTES) {
    endWith((body) => {
      outgoing.write(body);
      // Behind answers that took their time the body may have gone by already.
      if (incoming.closed) end();
      else incoming.once('close', () => end());
    });
    return KEEP;
  }
  takeNoMore(incoming);
  endWith((body) => {
    outgoing.write(body, () => {
      closeGently(socket);
      // Nothing is left to be read and dropped.
      if (incoming.complete) socket.destroySoon();
      else incoming.once('end', () => socket.destroySoon());
    });
  });
  return CLOSE;
}

/** Calls back when the answers before this one are written: only then is the connection this one's. */
function inTurn(outgoing: ServerResponse, callback: () => void): void {
  if (outgoing.socket === null) outgoing.once('socket', callback);
  else callback();
}
