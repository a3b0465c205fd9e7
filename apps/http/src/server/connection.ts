import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** The request that was taken last. */
  latest: IncomingMessage | null;
  /** What still comes is not to be served. */
  closing: boolean;
}

const connections = new WeakMap<Socket, Connection>();

function connectionOf({ socket }: IncomingMessage): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const made = { latest: null, closing: false };
  connections.set(socket, made);
  return made;
}

/** Takes a request, which will have its answer; false where the connection closes behind an answer before it. */
export function take(incoming: IncomingMessage): boolean {
  const connection = connectionOf(incoming);
  if (connection.closing) return false;
  connection.latest = incoming;
  return true;
}

/** Whether no request was taken behind this one: only its answer can close the connection, or theirs would be lost. */
export function isLatest(incoming: IncomingMessage): boolean {
  return connectionOf(incoming).latest === incoming;
}

/** From now on nothing that comes on a connection is served (RFC 9112, section 9.6), but what has been taken already. */
export function takeNoMore(incoming: IncomingMessage): void {
  connectionOf(incoming).closing = true;
}
