import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, startService } from './service.ts';

const SHORT = { headersTimeout: 400, requestTimeout: 800, keepAliveTimeout: 300, connectionsCheckingInterval: 50 };

function open(port: number): { socket: Socket; received: () => string; closed: Promise<void> } {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  return { socket, received: () => text, closed: new Promise((resolve) => socket.on('close', () => resolve())) };
}

test('a header section that trickles in is cut off with 408', async () => {
  const { port } = await startService({}, undefined, SHORT);
  const { socket, received, closed } = open(port);
  socket.write('GET /livez HTTP/1.1\r\n');
  const trickle = setInterval(() => socket.write('X: y\r\n'), 100);
  await closed;
  clearInterval(trickle);
  expect(received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"status":408}$/);
});

test.each(['stops', 'trickles in'])('a body that %s is cut off with 408, and counted as that', async (how) => {
  const { port, call } = await startService({}, undefined, SHORT);
  const { socket, received, closed } = open(port);
  const fields = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nX-Request-Id: slow\r\n`;
  socket.write(`POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: 1000\r\n\r\n`);
  const trickle = setInterval(() => how === 'trickles in' && socket.write(' '), 100);
  await closed;
  clearInterval(trickle);
  expect(received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*\r\nX-Request-Id: slow\r\n[\s\S]*"status":408}$/);
  const { text } = await call('GET', '/metrics', { key: null });
  expect(text.match(/^http_request_duration_seconds_count.*/gm)).toEqual([
    'http_request_duration_seconds_count{method="POST",route="/v1/pets",status="408"} 1',
  ]);
});

test('a connection that is idle, before its first request or after it, is closed', async () => {
  const { port } = await startService({}, undefined, SHORT);
  const [silent, used] = [open(port), open(port)];
  used.socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await Promise.all([silent.closed, used.closed]);
  expect(used.received()).toMatch(/^HTTP\/1\.1 200 /);
});

test('a client that does not read what it asked for is cut off', async () => {
  const { port } = await startService({}, undefined, { inactivityTimeout: 400 });
  const { socket, closed } = open(port);
  socket.pause();
  // More than fits into the buffers of both sides.
  socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  // Closed by the other side, it can't be told while nothing is read; writing tells.
  const writing = setInterval(() => socket.write('x'), 50);
  await closed;
  clearInterval(writing);
  expect(socket.bytesRead).toBeLessThan(50_000_000);
});

test('500 slow clients beside normal traffic: the normal traffic is answered', async () => {
  const { port, call } = await startService({}, undefined, { headersTimeout: 3_000 });
  const slow = Array.from({ length: 500 }, () => open(port));
  const trickle = setInterval(() => {
    for (const { socket } of slow) if (!socket.destroyed) socket.write('X: y\r\n');
  }, 200);
  for (const { socket } of slow) socket.write('GET /v1/pets HTTP/1.1\r\n');
  for (let count = 0; count < 300; count += 1) expect((await call('GET', '/v1/pets')).status).toBe(200);
  await Promise.all(slow.map(({ closed }) => closed));
  clearInterval(trickle);
  for (const { received } of slow) expect(received()).toMatch(/^HTTP\/1\.1 408 /);
}, 20_000);

test('more connections than allowed are turned away, and let in when there is room again', async () => {
  const { port } = await startService({ MAX_CONNECTIONS: '2' });
  const get = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
  const [first, second] = [open(port), open(port)];
  for (const { socket, received } of [first, second]) {
    socket.write(get);
    await expect.poll(received).toMatch(/200 OK/);
  }
  const third = open(port);
  third.socket.write(get);
  await third.closed;
  expect(third.received()).toBe('');
  second.socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(second.received).toContain('animal_store_connections_dropped_total{reason="connections"} 1\n');
  first.socket.destroy();
  await first.closed;
  await expect
    .poll(async () => {
      const fourth = open(port);
      fourth.socket.end(`GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      await fourth.closed;
      return fourth.received();
    })
    .toMatch(/^HTTP\/1\.1 200 /);
});
