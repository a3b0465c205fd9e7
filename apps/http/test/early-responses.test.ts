import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY, startService } from './service.ts';

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
  return { received: () => received, failures };
}

describe('an error response before the body of the request', () => {
  test.each([
    ['POST', `${AUTHORIZATION}${JSON_TYPE}`, 413],
    ['POST', JSON_TYPE, 401],
    ['PUT', AUTHORIZATION, 405],
    ['POST', `${AUTHORIZATION}Content-Type: text/plain\r\n`, 415],
  ])('reaches a client that takes its time to send %s a large body, %#', async (method, fields, status) => {
    const { port } = await startService();
    const parts = Array.from({ length: 8 }, () => Buffer.alloc(200_000, 'x'));
    const head = `${method} /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: 1600000\r\n\r\n`;
    const { received, failures } = await sendSlowly(port, head, parts, 150);
    await expect.poll(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"status":${status}}$`));
    expect(received()).toMatch(/\r\nconnection: close\r\n/i);
    expect(failures).toEqual([]);
  });

  test('reaches a client that sends a body of unknown length', async () => {
    const { port } = await startService();
    const part = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`;
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`;
    const { received, failures } = await sendSlowly(port, head, [part, part, part, part, '0\r\n\r\n'], 200);
    await expect.poll(received).toMatch(/^HTTP\/1\.1 413 [\s\S]*"status":413}$/);
    expect(failures).toEqual([]);
  });

  test('leaves the connection open if the body is short', async () => {
    const { raw } = await startService();
    const body = 'x'.repeat(70_000);
    const received = await raw(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}` +
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello` +
        'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  test('does not wait for the body', async () => {
    const { port } = await startService();
    for (const length of [70_000, 70_000_000]) {
      const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Content-Length: ${length}\r\n\r\n`;
      const { received } = await sendSlowly(port, head, [], 0);
      await expect.poll(received).toMatch(/^HTTP\/1\.1 413 [\s\S]*"status":413}$/);
    }
  });
});

describe('Expect: 100-continue', () => {
  const body = '{"name":"Rex","categoryId":1}';

  test.each([
    ['100-continue', '1.1', /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /],
    ['100-Continue', '1.1', /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /],
    ['a-miracle', '1.1', /^HTTP\/1\.1 201 /],
    ['100-continue', '1.0', /^HTTP\/1\.1 201 /],
  ])('gets 100 Continue if the body is wanted: %s, HTTP/%s', async (expectation, version, pattern) => {
    const { raw } = await startService();
    const received = await raw(
      `POST /v1/pets HTTP/${version}\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Expect: ${expectation}\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(received).toMatch(pattern);
  });

  test.each([
    [401, JSON_TYPE, 10],
    [415, `${AUTHORIZATION}Content-Type: text/plain\r\n`, 10],
    [413, `${AUTHORIZATION}${JSON_TYPE}`, 70_000],
  ])('gets %d at once if the body is not wanted', async (status, fields, length) => {
    const { raw } = await startService();
    const received = await raw(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`,
    );
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"status":${status}}$`));
    expect(received).toMatch(/\r\nconnection: close\r\n/i);
  });

  test.each(['GET /livez', 'HEAD /livez', 'PUT /v1/pets', 'GET /v1/pets'])(
    'does not lose the responses to requests after %s without a body',
    async (line) => {
      const { raw } = await startService();
      const received = await raw(
        `${line} HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Expect: 100-continue\r\n\r\n` +
          `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}` +
          'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      );
      const statuses = received.match(/HTTP\/1\.1 \d+/g)?.map((text) => Number(text.slice(9)));
      expect(statuses).toEqual([line.startsWith('PUT') ? 405 : 200, 201, 200]);
    },
  );
});
