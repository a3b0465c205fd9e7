import { once } from 'node:events';
import { expect, test } from 'vitest';
import { openSocket, request, startBareServer } from './service.ts';

// The values of docs/settings.md, as the clock measures them: this takes 100 seconds.

test.each([
  ['an idle connection', 65, true],
  ['a connection without activity during a request', 35, false],
])('closes %s after %d seconds', async (_, seconds, responds) => {
  const { port } = await startBareServer((_, response) => void (responds && response.end('served')));
  const socket = openSocket(port);
  const closed = once(socket, 'close');
  socket.write(request('GET /'));
  await once(socket, responds ? 'data' : 'connect');
  const begin = performance.now();
  await closed;
  const measured = (performance.now() - begin) / 1_000;
  // A timer may come a little early, and late on a busy machine: for more than half of it another limit would be the reason.
  expect(measured).toBeGreaterThan(seconds - 1);
  expect(measured).toBeLessThan(seconds * 1.5);
});
