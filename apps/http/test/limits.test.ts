import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, startService } from './service.ts';

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

test('rejects a body that does not arrive with 408, and counts it', async () => {
  const timeLimits = { headersTimeout: 400, requestTimeout: 800, connectionsCheckingInterval: 50 };
  const { port, call } = await startService({}, { timeLimits });
  const { socket, received, closed } = open(port);
  const fields = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nX-Request-Id: slow\r\n`;
  socket.write(`POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: 1000\r\n\r\n`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*\r\nX-Request-Id: slow\r\n[\s\S]*"status":408}$/i);
  const { text } = await call('GET', '/metrics', { key: null });
  expect(text.match(/^http_request_duration_seconds_count.*/gm)).toEqual([
    'http_request_duration_seconds_count{method="POST",route="/v1/pets",status="408"} 1',
  ]);
});

test('accepts MAX_CONNECTIONS connections, and counts those that are dropped', async () => {
  const { port } = await startService({ MAX_CONNECTIONS: '2' });
  const [first, second] = [open(port), open(port)];
  for (const { socket, received } of [first, second]) {
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(received).toMatch(/200 OK/);
  }
  const third = open(port);
  third.socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await third.closed;
  expect(third.received()).toBe('');
  second.socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(second.received).toContain('animal_store_connections_dropped_total{reason="connections"} 1\n');
});
