import type { Socket } from 'node:net';

/**
 * Closes this side of a connection behind its last answer. Closed with bytes unread it would be reset, and the answer lost on
 * its way: so what still comes is read and dropped until the client closes its side. When to wait no longer is the caller's.
 *
 * @param last What is still to be written.
 */
export function closeGently(socket: Socket, last = ''): void {
  socket.resume();
  socket.on('error', () => socket.destroy());
  if (!socket.writableEnded) socket.end(last);
}
