import type { Socket } from 'node:net';

/**
 * Closes a connection after its last response (lingering close, RFC 9112, section 9.6): ends this side when everything is written,
 * then waits until the client has ended its own. A socket that is closed with bytes unread is reset, and a reset discards what the
 * client has not read yet: so the socket must continue to read.
 *
 * @param idle How long nothing may arrive before the socket is closed, in milliseconds.
 * @param max How long the client may continue to send, in milliseconds.
 */
export function closeGracefully(socket: Socket, { idle, max }: { idle: number; max: number }): void {
  const { bytesRead } = socket;
  // A client may read its response slowly, but one that sends without end would never be inactive.
  let timer = setInterval(() => socket.bytesRead > bytesRead && socket.destroy(), max);
  socket.once('finish', () => {
    clearInterval(timer);
    timer = setTimeout(() => socket.destroy(), max);
    socket.setTimeout(idle);
  });
  socket.once('close', () => clearInterval(timer));
  socket.end();
}
