import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** While so many requests of a connection have no answer, nothing more is read of it. */
const UNANSWERED_MAX = 100;

interface Connection {
  /** The request that was taken last. */
  latest: IncomingMessage | null;
  /** What still comes is not to be served. */
  closing: boolean;
  /** How many requests have come whose answer is not written. */
  unanswered: number;
}

const connections = new WeakMap<Socket, Connection>();

function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const made = { latest: null, closing: false, unanswered: 0 };
  connections.set(socket, made);
  return made;
}

/** Takes a request, which will have its answer; false where the connection closes behind an answer before it. */
export function take(incoming: IncomingMessage): boolean {
  const connection = connectionOf(incoming.socket);
  if (connection.closing) return false;
  connection.latest = incoming;
  return true;
}

/** Whether no request was taken behind this one: only its answer can close the connection, or theirs would be lost. */
export function isLatest(incoming: IncomingMessage): boolean {
  return connectionOf(incoming.socket).latest === incoming;
}

/** From now on nothing that comes on a connection is served (RFC 9112, section 9.6), but what has been taken already. */
export function takeNoMore({ socket }: IncomingMessage): void {
  connectionOf(socket).closing = true;
}

/**
 * Counts a request that has no answer yet. A client that goes on sending without waiting has the rest of its requests wait on
 * its own side: Node.js would take them all, and keep some kilobytes for each. It reads by pieces of 64 KiB, of which it parses
 * the whole; so somewhat more can be under way.
 */
export function countUnanswered({ socket }: IncomingMessage, outgoing: ServerResponse): void {
  const connection = connectionOf(socket);
  connection.unanswered += 1;
  if (connection.unanswered === UNANSWERED_MAX) holdReading(socket);
  outgoing.once('close', () => {
    connection.unanswered -= 1;
    if (connection.unanswered === UNANSWERED_MAX - 1) goOnReading(socket);
  });
}

function holdReading(socket: Socket): void {
  socket.pause();
  // Node.js goes on reading with the end of each request.
  socket.resume = () => socket;
}

function goOnReading(socket: Socket): void {
  // What stands on the prototype.
  Reflect.deleteProperty(socket, 'resume');
  socket.resume();
}
