import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import { KEY, type Service, serviceAt, startService, test } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

// Every kind of malformed HTTP, requests that are sent without waiting, and responses before a body are tests of packages/http-server.

/** The last response on a connection. */
function responseIn(text: string): { status: number; head: string; body: unknown } {
  const [head = '', body = ''] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) };
}

const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const request = (line: string, fields = '', body = '') => `${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`;
const TUNNEL = 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n';

describe('the rejection of a request that is not valid HTTP', () => {
  test.for([
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['a header section above 16 KiB', request('GET /livez', `A: ${'x'.repeat(20_000)}\r\n`), 431, 'invalid_request'],
    ['CONNECT', TUNNEL, 400, 'invalid_request'],
    ['no Host field', `GET /v1/pets HTTP/1.1\r\n${AUTHORIZATION}Connection: close\r\n\r\n`, 400, 'invalid_request'],
    [
      'long chunk extensions',
      request('POST /v1/pets', AUTHORIZATION + JSON_TYPE + CHUNKED, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
      413,
      'payload_too_large',
    ],
  ] as const)(
    'has the Error shape: %s',
    async ([_what, bytes, status, code], { shared: { raw, unexpectedErrors } }) => {
      const text = await raw(bytes);
      const response = responseIn(text);
      expect(text.match(/^HTTP/gm)).toHaveLength(1);
      expect(response.head).toMatch(/^content-type: application\/json$/im);
      expect(response.head).toMatch(/^connection: close$/im);
      expect(response.head).toMatch(/^x-request-id: [\da-f-]{36}$/im);
      expect(response.head).toMatch(/^x-content-type-options: nosniff$/im);
      expect(response).toMatchObject({ status, body: { code, message: expect.stringMatching(/./), status } });
      expect(unexpectedErrors).toEqual([]);
    },
  );

  test('is logged under the id that the client gets', async () => {
    // Others would be summarized.
    const running = startProcess({ API_KEYS: KEY, LOG_LEVEL: 'debug' });
    const { raw } = serviceAt(await listeningAt(running));
    for (const [line, fields] of [
      ['POST /v1/pets', `${AUTHORIZATION}X-Request-Id: the-one-that-was-sent\r\n`],
      ['POST /v1/pets', AUTHORIZATION],
      ['GET /livez', ''],
    ]) {
      const malformed = request(line as string, `${fields}${JSON_TYPE}${CHUNKED}`, 'hello\r\n');
      const { status, head } = responseIn(await raw(request('GET /livez') + malformed));
      expect(status).toBe(400);
      const id = /^X-Request-Id: (\S+)$/im.exec(head)?.[1];
      await running.says(new RegExp(`"status":400,.*"requestId":"${id}"`));
    }
    await running.says(/"requestId":"the-one-that-was-sent"/);
    expect(running.output.out.match(/"status":400/g)).toHaveLength(3);
  });
});

test.for([
  ['POST', `${AUTHORIZATION}${JSON_TYPE}`, 413],
  ['POST', JSON_TYPE, 401],
  ['PUT', AUTHORIZATION, 405],
  ['POST', `${AUTHORIZATION}Content-Type: text/plain\r\n`, 415],
] as const)(
  'an error response to %s (%j) with %d does not wait for the body',
  async ([method, fields, status], { shared: { raw } }) => {
    for (const expectation of ['', 'Expect: 100-continue\r\n']) {
      const head = request(`${method} /v1/pets`, `${fields}${expectation}Content-Length: 70000000\r\n`);
      const response = responseIn(await raw(head));
      expect(response).toMatchObject({
        status,
        head: expect.stringMatching(/^connection: close$/im),
        body: { status },
      });
    }
  },
);

test('rejects a body that does not arrive with 408, and counts it', async () => {
  const timeLimits = { headersTimeout: 400, requestTimeout: 800, connectionsCheckingInterval: 50 };
  const { raw, call } = await startService({}, { timeLimits });
  const slow = request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}X-Request-Id: slow\r\nContent-Length: 1000\r\n`);
  expect(responseIn(await raw(slow))).toMatchObject({
    status: 408,
    head: expect.stringMatching(/^x-request-id: slow$/im),
    body: { status: 408 },
  });
  const { text } = await call('GET', '/metrics', { key: null });
  expect(text.match(/^http_request_duration_seconds_count.*/gm)).toEqual([
    'http_request_duration_seconds_count{method="POST",route="/v1/pets",status="408"} 1',
  ]);
});

/** Begins a body, and disconnects in one of two ways. */
function disconnect({ port }: Service, how: 'destroy' | 'end'): Promise<void> {
  const head = request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}Content-Length: 100\r\n`, '{"name');
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head, () => socket[how]()));
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
}

test('a client that disconnects in the middle of its body leaves no request in flight', async ({ service }) => {
  for (let count = 0; count < 20; count += 1) await disconnect(service, count % 2 === 0 ? 'destroy' : 'end');
  const { call, unexpectedErrors } = service;
  expect((await call('GET', '/v1/pets')).text).toBe('[]');
  const inFlight = async () => /^http_requests_in_flight (\d+)$/m.exec((await call('GET', '/metrics')).text)?.[1];
  await expect.poll(inFlight).toBe('1');
  expect(unexpectedErrors).toEqual([]);
});
