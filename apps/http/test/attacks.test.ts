import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY, openSocket, type Service } from './service.ts';
import { startProcess } from './service-process.ts';

const CONNECTIONS = 20;
const HEAD = `Host: a\r\nAuthorization: Bearer ${KEY}\r\n`;
const CREATE = `POST /v1/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`;

const startService = (environment: Record<string, string> = {}): Promise<Service> =>
  startProcess({ API_KEYS: KEY, ...environment }).listens();

/** Waits until the other side closes, and returns what it sent. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  await new Promise((resolve) => socket.on('close', resolve));
  return text;
}

/** Sends honest requests until the attack is over, one after the other on connections of their own. */
async function expectServed({ call }: Service, attack: Promise<unknown>, onServed: () => void): Promise<void> {
  let isOver = false;
  const over = attack.finally(() => {
    isOver = true;
  });
  do {
    expect((await call('GET', '/v1/pets')).status).toBe(200);
    onServed();
  } while (!isOver);
  await over;
}

describe('an honest client gets 200', () => {
  test.for([
    ['2,000 requests without waiting for a response', `GET /v1/pets HTTP/1.1\r\n${HEAD}\r\n`.repeat(2_000)],
    [
      'a body in 60,000 chunks of one byte',
      `${CREATE}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(60_000)}0\r\n\r\n`,
    ],
  ] as const)('while 20 connections send %s, which are closed', async ([, bytes]) => {
    const service = await startService();
    const sockets = Array.from({ length: CONNECTIONS }, () => openSocket(service.port));
    const attack = sockets.map(async (socket) => {
      socket.write(bytes);
      return (await untilClosed(socket)).match(/^HTTP/gm)?.length ?? 0;
    });
    // The connections are closed although they are never inactive.
    await expectServed(service, Promise.all(attack), () => {
      for (const socket of sockets) socket.write(`GET /livez HTTP/1.1\r\n${HEAD}\r\n`);
    });
    for (const responses of await Promise.all(attack)) expect(responses).toBeLessThanOrEqual(50);
    expect((await service.call('GET', '/v1/pets')).json).toEqual([]);
  });
});

test.each([
  ['after a CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['after an Upgrade', `GET /v1/pets HTTP/1.1\r\n${HEAD}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`],
  ['after malformed bytes', 'hello\r\n\r\n'],
  ['within a body', `${CREATE}Content-Length: 30\r\n\r\n{`],
])('serves others when a client resets its connection %s', async (_, bytes) => {
  const service = await startService();
  for (let count = 0; count < 5; count += 1) {
    const socket = openSocket(service.port);
    await once(socket, 'connect');
    socket.write(bytes);
    socket.resetAndDestroy();
    await once(socket, 'close');
  }
  expect((await service.call('GET', '/v1/pets')).status).toBe(200);
});

describe('a body above the limit gets 413', () => {
  test.for([0.1, 1, 10, 100])('with %d MB', async (megabytes) => {
    const { port } = await startService();
    const body = Buffer.alloc(megabytes * 1_000_000, ' ');
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body,
    });
    expect([response.status, await response.json()]).toEqual([
      413,
      expect.objectContaining({ code: 'payload_too_large' }),
    ]);
    // A client that reads only when it has sent everything.
    const socket = openSocket(port);
    socket.write(`${CREATE}Content-Length: ${body.length}\r\n\r\n`);
    await new Promise((resolve) => socket.write(body, resolve));
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 413 /);
  });
});

test('a header section of 5 MB gets 431, also if the client reads only when it has sent everything', async () => {
  const { port } = await startService();
  const socket = openSocket(port);
  await new Promise((resolve) => socket.write(`GET /livez HTTP/1.1\r\nA: ${'x'.repeat(5_000_000)}`, resolve));
  expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 431 /);
});

test('closes a connection that goes on sending after malformed bytes', async () => {
  const { port } = await startService();
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const send = () => socket.write('hello\r\n', (error) => !error && setImmediate(send));
  send();
  expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 400 /);
});

test('a slow client gets 408: after 10 s if its header section is incomplete, after 30 s if its body is', async () => {
  const { port, call } = await startService();
  const secondsUntil408 = async (bytes: string) => {
    const start = performance.now();
    const socket = openSocket(port);
    socket.write(bytes);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 .*"code":"invalid_request".*"status":408\}$/s);
    return Math.floor((performance.now() - start) / 1_000);
  };
  const [header, ...bodies] = await Promise.all([
    secondsUntil408('GET /v1/pets HTTP/1.1\r\nHost: a\r\n'),
    secondsUntil408(`${CREATE}Content-Length: 100\r\n\r\n{`),
    secondsUntil408(`${CREATE}Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 100\r\n\r\n{`),
  ]);
  expect(header).toBeGreaterThanOrEqual(10);
  expect(header).toBeLessThan(30);
  for (const body of bodies) expect(body).toBeGreaterThanOrEqual(30);
  const { text } = await call('GET', '/metrics');
  const counts = [...text.matchAll(/^http_request_duration_seconds_count\{.*status="408"\} (\d+)$/gm)];
  expect(counts.map(([, count]) => count).sort()).toEqual(['1', '2']);
});

test('closes connections beyond MAX_CONNECTIONS, and serves the others', async () => {
  const { port } = await startService({ MAX_CONNECTIONS: '2' });
  const [first, second] = [openSocket(port), openSocket(port)];
  await Promise.all([once(first, 'connect'), once(second, 'connect')]);
  expect(await untilClosed(openSocket(port))).toBe('');
  second.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(String((await once(second, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
});
