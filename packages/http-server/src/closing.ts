import type { Socket } from 'node:net';

/**
 * Closes a connection after its last response (lingering close, RFC 9112, section 9.6): ends this side, then reads and discards
 * until the client has ended its own. A socket that is closed with bytes unread is reset, and a reset discards what the client has
 * not read yet.
 *
 * @param last What is still to be written.
 * @param idle How long nothing may arrive before the socket is closed, in milliseconds.
 * @param max How long to read and discard at most, in milliseconds.
 */
export function closeGracefully(socket: Socket, last: string, { idle, max }: { idle: number; max: number }): void {
  socket.on('error', ignore);
  socket.once('finish', () => {
    const timer = setTimeout(closeAtOnce, max, socket);
    socket.once('close', () => clearTimeout(timer));
    socket.setTimeout(idle);
    // Node's server reads nothing while writes are pending, and gets no 'drain' event from a socket that has been ended.
    socket.emit('drain');
    socket.resume();
    // Reading has been resumed then.
    process.nextTick(discardAll, socket);
  });
  socket.end(last);
}

/** Closes a connection at once. It is reset if bytes are unread, and what is not written yet is lost. */
export function closeAtOnce(socket: Socket): void {
  socket.destroy();
}

/** Takes the bytes from Node's parser, which would make requests of them. */
function discardAll(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.on('data', ignore);
}

function ignore(): void {}
