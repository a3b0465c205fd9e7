import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { overtakeBody } from '../src/server/unread-body.ts';
import { KEY, type Service, serviceAt, startService } from './service.ts';

const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';

/** A client that reads nothing before it has sent everything, as many HTTP libraries do. */
async function sendSlowly(port: number, head: string, parts: readonly (string | Buffer)[], pause: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const failures: Error[] = [];
  socket.on('error', (error) => failures.push(error));
  socket.pause();
  socket.write(head);
  for (const part of parts) {
    await sleep(pause);
    socket.write(part);
  }
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.resume();
  return { socket, received: () => received, failures };
}

test.each([
  ['POST', `${AUTHORIZATION}${JSON_TYPE}`, 413],
  ['POST', JSON_TYPE, 401],
  ['PUT', AUTHORIZATION, 405],
  ['POST', `${AUTHORIZATION}Content-Type: text/plain\r\n`, 415],
])('a client that takes its time to send %s a large body still gets its answer, %#', async (method, fields, status) => {
  const { port } = await startService();
  const parts = Array.from({ length: 8 }, () => Buffer.alloc(200_000, 'x'));
  const head = `${method} /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: 1600000\r\n\r\n`;
  const { received, failures } = await sendSlowly(port, head, parts, 150);
  await expect.poll(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"status":${status}}$`));
  expect(received()).toMatch(/\r\nconnection: close\r\n/i);
  expect(failures).toEqual([]);
});

test('so does one that sends a body of unknown length', async () => {
  const { port } = await startService();
  const part = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`;
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`;
  const { received, failures } = await sendSlowly(port, head, [part, part, part, part, '0\r\n\r\n'], 200);
  await expect.poll(received).toMatch(/^HTTP\/1\.1 413 [\s\S]*"status":413}$/);
  expect(failures).toEqual([]);
});

test('behind a short body that was not wanted the connection serves on', async () => {
  const { port } = await startService();
  const parts = Array.from({ length: 7 }, () => 'x'.repeat(10_000));
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Content-Length: 70000\r\n\r\n`;
  const get = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const { received } = await sendSlowly(port, head, [...parts, get], 120);
  await expect.poll(received).toMatch(/^HTTP\/1\.1 413 [\s\S]*"status":413}HTTP\/1\.1 200 OK/);
});

test('behind an answer that takes its time, too', async () => {
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method === 'POST') overtakeBody(incoming, outgoing);
    else await sleep(50);
    outgoing.end(incoming.url);
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
  const { raw } = serviceAt((server.address() as AddressInfo).port);
  const received = await raw(
    `${get('/1')}POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello${get('/3', 'Connection: close\r\n')}`,
  );
  expect(received).toMatch(/\/1HTTP[\s\S]*\/2\r\n[\s\S]*HTTP[\s\S]*\/3$/);
});

test('the answer does not wait for the body', async () => {
  const { port } = await startService();
  for (const length of [70_000, 70_000_000]) {
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Content-Length: ${length}\r\n\r\n`;
    const { received } = await sendSlowly(port, head, [], 0);
    await expect.poll(received).toMatch(/^HTTP\/1\.1 413 [\s\S]*"status":413}$/);
  }
});

test('a client that never ends a body that was refused is cut off, without a second answer', async () => {
  const { port } = await startService({}, undefined, {
    headersTimeout: 600,
    requestTimeout: 600,
    connectionsCheckingInterval: 50,
  });
  for (const length of [70_000, 70_000_000]) {
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Content-Length: ${length}\r\n\r\n`;
    const { socket, received } = await sendSlowly(port, head, [], 0);
    const trickle = setInterval(() => socket.write('x'), 50);
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(trickle);
    expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413']);
  }
});

test('nothing is carried out on a connection that its last answer has closed', async () => {
  const { port, call } = await startService();
  const animal = '{"name":"Rex","categoryId":1}';
  const post = (body: string, fields = '') =>
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`;
  const refused = post('x'.repeat(1_100_000));
  const parts = [`${refused.slice(-10)}${post(animal, AUTHORIZATION)}`];
  const { socket, received } = await sendSlowly(port, refused.slice(0, -10), parts, 100);
  await new Promise((resolve) => socket.on('close', resolve).on('end', () => socket.end()));
  expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  expect((await call('GET', '/v1/pets')).text).toBe('[]');
});

test.each([
  ['HEAD /livez', ''],
  ['HEAD /livez', '0\r\n\r\n'],
  ['GET /livez', '0\r\n\r\n'],
  ['DELETE /v1/pets', '5\r\nhello\r\n0\r\n\r\n'],
])('%s with a body %j cuts off no answer before its own', async (line, body) => {
  const { port } = await startService();
  const animal = '{"name":"Rex","categoryId":1}';
  const post = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Content-Length: ${animal.length}\r\n\r\n${animal}`;
  const behind = `${line} HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Transfer-Encoding: chunked\r\n\r\n${body}`;
  const { socket, received, failures } = await sendSlowly(port, post + post + behind, [], 0);
  socket.on('end', () => socket.end());
  await new Promise((resolve) => socket.on('close', resolve));
  expect(
    received()
      .match(/HTTP\/1\.1 \d+/g)
      ?.map((text) => text.slice(9)),
  ).toEqual(['201', '201', line.startsWith('DELETE') ? '405' : '200']);
  expect(failures).toEqual([]);
});

function expecting(expectation: string, fields: string, body: string, version = '1.1'): string {
  return (
    `POST /v1/pets HTTP/${version}\r\nHost: x\r\n${fields}Expect: ${expectation}\r\n` +
    `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
  );
}

test('Expect: 100-continue gets its go-ahead where the body is wanted, any other expectation is ignored', async () => {
  const { raw } = await startService();
  const body = '{"name":"Rex","categoryId":1}';
  const fields = `${AUTHORIZATION}${JSON_TYPE}`;
  for (const wanted of ['100-continue', '100-Continue']) {
    expect(await raw(expecting(wanted, fields, body))).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  }
  expect(await raw(expecting('a-miracle', fields, body))).toMatch(/^HTTP\/1\.1 201 /);
  expect(await raw(expecting('100-continue', fields, body, '1.0'))).toMatch(/^HTTP\/1\.1 201 /);
});

async function refusal({ raw }: Service, fields: string, length = 10): Promise<string> {
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
  return raw(head);
}

test('a client that waits for a go-ahead is told at once where the body is not wanted', async () => {
  const service = await startService();
  for (const [fields, length, status] of [
    [JSON_TYPE, 10, 401],
    [`${AUTHORIZATION}Content-Type: text/plain\r\n`, 10, 415],
    [`${AUTHORIZATION}${JSON_TYPE}`, 70_000, 413],
  ] as const) {
    const answer = await refusal(service, fields, length);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"status":${status}}$`));
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  }
});
