import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, serviceAt } from './service.ts';
import { keepConnecting, listeningAt, startProcess } from './service-process.ts';

test('a stop makes the service unready at once, and has each response of the grace close its connection', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_GRACE_SECONDS: '30' });
  const port = await listeningAt(running);
  const { add, call } = serviceAt(port);
  expect((await call('GET', '/readyz')).status).toBe(200);
  const idle = await openConnection(port);
  const endConnecting = keepConnecting(port);
  running.process.kill('SIGTERM');
  await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(503);
  expect((await call('GET', '/livez')).status).toBe(200);
  const response = await call('GET', '/v1/pets', { headers: { connection: 'keep-alive' } });
  expect([response.status, response.headers.connection]).toEqual([200, 'close']);
  expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  endConnecting();
  idle.destroy();
  expect(await running.exit).toBe(0);
});

test('a stop creates no pet after the last response of a connection', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_GRACE_SECONDS: '30' });
  const port = await listeningAt(running);
  const { raw, call } = serviceAt(port);
  const idle = await openConnection(port);
  const endConnecting = keepConnecting(port);
  running.process.kill('SIGTERM');
  await running.says(/"stopping"/);
  const body = '{"name":"Rex","categoryId":1}';
  // Too long for all of them to be read at once.
  const post =
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n` +
    `X-Padding: ${'x'.repeat(1_000)}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const responses = (await raw(post.repeat(1_000))).match(/HTTP\/1\.1 201/g) ?? [];
  expect(responses.length).toBeGreaterThan(0);
  let stored = 0;
  for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined; ) {
    const { headers, json } = await call('GET', path);
    stored += (json as unknown[]).length;
    path = /^<(.*)>; rel="next"$/.exec(String(headers['link']))?.[1];
  }
  expect(stored).toBe(responses.length);
  endConnecting();
  idle.destroy();
  expect(await running.exit).toBe(0);
});

test('a stop ends with 0 at its deadline although a request is not complete', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_DEADLINE_SECONDS: '1', STOP_GRACE_SECONDS: '0' });
  const port = await listeningAt(running);
  const socket = await openConnection(port);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  );
  // Its connection is accepted after that of the incomplete request.
  expect((await serviceAt(port).call('GET', '/livez')).status).toBe(200);
  running.process.kill('SIGTERM');
  expect(await running.exit).toBe(0);
  expect(running.output.out).toMatch(/"msg":"stopped","connectionsClosed":1|"connectionsClosed":1,"msg":"stopped"/);
  await closed;
});

test('a stop takes less than a second if no connection is open', { retry: 2 }, async () => {
  const running = startProcess({ API_KEYS: KEY });
  await listeningAt(running);
  const started = performance.now();
  running.process.kill('SIGINT');
  expect(await running.exit).toBe(0);
  expect(performance.now() - started).toBeLessThan(1_000);
});

async function openConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}
