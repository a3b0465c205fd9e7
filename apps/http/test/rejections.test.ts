import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { KEY, startService } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

interface RawResponse {
  status: number;
  head: string;
  body: unknown;
}

/** The responses on a connection, each with a Content-Length. */
function responsesIn(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    const body = rest.slice(end + 4, end + 4 + length);
    responses.push({ status: Number(head.split(' ')[1]), head, body: body === '' ? null : JSON.parse(body) });
    rest = rest.slice(end + 4 + length);
  }
  return responses;
}

const statusesIn = (text: string) => responsesIn(text).map(({ status }) => status);

const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const REX = '{"name":"Rex","categoryId":1}';

const request = (line: string, fields = '', body = '') => `${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`;
const post = request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}Content-Length: ${REX.length}\r\n`, REX);

describe('the rejection of a request that is not valid HTTP', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/3.7\r\n\r\n', 400],
    [
      'HTTP/2.0 that is written like HTTP/1.1',
      `GET /v1/pets HTTP/2.0\r\nHost: x\r\n${AUTHORIZATION}Connection: close\r\n\r\n`,
      400,
    ],
    ['HTTP/0.9 with fields', 'GET /livez HTTP/0.9\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['lines that end in LF alone', 'GET /livez HTTP/1.1\nHost: x\n\n', 400],
    ['a header line without a colon', 'GET /livez HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n', 400],
    ['a target that is no URL', 'GET livez HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a byte outside ASCII in the target', 'GET /livez?ü HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a space before the colon', 'GET /livez HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n', 400],
    ['a NUL in a field', 'GET /livez HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n', 400],
    ['two lengths', 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a header section above 16 KiB', `GET /livez HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a target above 16 KiB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', 400],
    ['no Host field', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['an impossible Host', 'GET /livez HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
    ['two Host fields', 'GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['a Host with a path', 'GET /livez HTTP/1.1\r\nHost: x/y\r\nConnection: close\r\n\r\n', 400],
    ['a Host field of two hosts', 'GET /livez HTTP/1.1\r\nHost: x, y\r\nConnection: close\r\n\r\n', 400],
    ['no Host field, with a valid key', `GET /v1/pets HTTP/1.1\r\n${AUTHORIZATION}Connection: close\r\n\r\n`, 400],
  ])('has the Error shape: %s', async (_what, bytes, status) => {
    const { raw, unexpectedErrors } = await startService();
    const [response, ...more] = responsesIn(await raw(bytes));
    expect(more).toEqual([]);
    expect(response?.status).toBe(status);
    expect(response?.head).toMatch(/^content-type: application\/json$/im);
    expect(response?.head).toMatch(/^connection: close$/im);
    expect(response?.head).toMatch(/^x-request-id: [\da-f-]{36}$/im);
    expect(response?.head).toMatch(/^date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/im);
    expect(response?.body).toEqual({ code: 'invalid_request', message: expect.stringMatching(/./), status });
    expect(unexpectedErrors).toEqual([]);
  });

  test('is 413 for long chunk extensions', async () => {
    const { raw } = await startService();
    const body = `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`;
    const [response] = responsesIn(await raw(request('POST /v1/pets', AUTHORIZATION + JSON_TYPE + CHUNKED, body)));
    expect(response).toMatchObject({ status: 413, body: { code: 'payload_too_large', status: 413 } });
  });

  test('comes after the responses to the requests before it', async () => {
    const { raw } = await startService();
    for (const bytes of ['hello\r\n\r\n', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n']) {
      expect(statusesIn(await raw(request('GET /livez') + post + post + bytes))).toEqual([200, 201, 201, 400]);
    }
  });

  test('is the one response to a request whose body is malformed', async () => {
    const { raw } = await startService();
    const fields = `${AUTHORIZATION}${JSON_TYPE}X-Request-Id: the-one-that-was-sent\r\n${CHUNKED}`;
    const responses = responsesIn(await raw(request('POST /v1/pets', fields, '2\r\n{}\r\nhello\r\n')));
    expect(responses.map(({ status }) => status)).toEqual([400]);
    expect(responses[0]?.head).toMatch(/^X-Request-Id: the-one-that-was-sent$/im);
  });

  test('does not replace a response that needs no body', async () => {
    const { raw } = await startService();
    const unauthorized = request('POST /v1/pets', JSON_TYPE + CHUNKED, 'hello\r\n');
    expect(statusesIn(await raw(unauthorized))).toEqual([401]);
  });

  test.each([
    ['POST /v1/pets', AUTHORIZATION],
    ['POST /v1/pets', ''],
    ['GET /livez', ''],
  ])('is logged under the id that the client gets: %s (%s) after another request', async (line, fields) => {
    const running = startProcess({ API_KEYS: KEY });
    const port = await listeningAt(running);
    const malformed = request(line, `${fields}${JSON_TYPE}${CHUNKED}`, 'hello\r\n');
    const received = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(request('GET /livez') + malformed));
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    const [, response] = responsesIn(received);
    expect(response?.status).toBe(400);
    const [, id] = /^X-Request-Id: (\S+)$/im.exec(response?.head ?? '') ?? [];
    await running.says(new RegExp(`"status":400,.*"requestId":"${id}"`));
    expect(running.output.out.match(/"msg":"request"/g)).toHaveLength(1);
  });
});

describe('requests that are sent without waiting for responses', () => {
  test('see the effects of earlier ones', async () => {
    const { raw } = await startService();
    const requests = post + request('GET /v1/pets/1', AUTHORIZATION) + request('GET /v1/pets');
    const received = await raw(requests + request('GET /livez', 'Connection: close\r\n'));
    expect(statusesIn(received)).toEqual([201, 200, 401, 200]);
  });

  test('all get responses if the client closes its side after them', async () => {
    const { port } = await startService();
    const received = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(post.repeat(3)));
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => resolve(text));
    });
    expect(statusesIn(received)).toEqual([201, 201, 201]);
  });
});

test('a client that disconnects in the middle of its body leaves no request in flight', async () => {
  const { port, call, unexpectedErrors } = await startService();
  const head = request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}Content-Length: 100\r\n`, '{"name');
  for (let count = 0; count < 20; count += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(head, () => (count % 2 === 0 ? socket.destroy() : socket.end()));
      });
      socket.resume();
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  }
  expect((await call('GET', '/v1/pets')).text).toBe('[]');
  const inFlight = async () => /^http_requests_in_flight (\d+)$/m.exec((await call('GET', '/metrics')).text)?.[1];
  await expect.poll(inFlight).toBe('1');
  expect(unexpectedErrors).toEqual([]);
});
