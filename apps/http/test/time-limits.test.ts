import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startServer } from '../src/server/server.ts';

// The values of docs/settings.md, as the clock measures them: this takes 66 seconds.

const REQUEST = 'GET / HTTP/1.1\r\nHost: animals\r\n\r\n';

/** Sends a request, and measures from it, or from the response if there is one, until the server closes the connection. */
async function secondsOpen(responds: boolean): Promise<number> {
  const server = await startServer((_, response) => void (responds && response.end('served')), {
    ...{ host: '127.0.0.1', port: 0, maxConnections: 1 },
    onDrop() {},
    reject() {
      throw new Error('nothing is rejected');
    },
  });
  const socket = connect(server.address.port, '127.0.0.1').on('error', () => {});
  const closed = once(socket, 'close');
  socket.write(REQUEST);
  await once(socket, responds ? 'data' : 'connect');
  const begin = performance.now();
  await closed;
  const seconds = (performance.now() - begin) / 1_000;
  await server.stop({ grace: 0, deadline: 0 });
  return seconds;
}

test.concurrent.each([
  ['an idle connection', 65, true],
  ['a connection without activity during a request', 35, false],
])('closes %s after %d seconds', async (_, seconds, responds) => {
  const measured = await secondsOpen(responds);
  // A timer may come a little early, and late on a busy machine: for more than half of it another limit would be the reason.
  expect(measured).toBeGreaterThan(seconds - 1);
  expect(measured).toBeLessThan(seconds * 1.5);
});
