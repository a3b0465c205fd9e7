import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readBody } from '../src/http/request-body.ts';
import { KEY, startService } from './service.ts';

interface RawAnswer {
  status: number;
  head: string;
  body: unknown;
}

/** The answers on a connection, each with a Content-Length. */
function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    const body = rest.slice(end + 4, end + 4 + length);
    answers.push({ status: Number(head.split(' ')[1]), head, body: body === '' ? null : JSON.parse(body) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;

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
  ['a byte beyond ASCII in the target', 'GET /livez?ü HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a space before the colon', 'GET /livez HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n', 400],
  ['a NUL in a field', 'GET /livez HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n', 400],
  ['two lengths', 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
  [
    'length and chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['a header section beyond 16 KiB', `GET /livez HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['a target beyond 16 KiB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
  ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', 400],
  ['no Host field', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an impossible Host', 'GET /livez HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
  ['two Host fields', 'GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ['a Host with a path', 'GET /livez HTTP/1.1\r\nHost: x/y\r\nConnection: close\r\n\r\n', 400],
  ['a Host field of two hosts', 'GET /livez HTTP/1.1\r\nHost: x, y\r\nConnection: close\r\n\r\n', 400],
  ['no Host field, whoever asks', `GET /v1/pets HTTP/1.1\r\n${AUTHORIZATION}Connection: close\r\n\r\n`, 400],
])('%s is refused in the Error shape', async (_what, bytes, status) => {
  const { raw, unexpectedErrors } = await startService();
  const [answer, ...more] = answersIn(await raw(bytes));
  expect(more).toEqual([]);
  expect(answer?.status).toBe(status);
  expect(answer?.head).toMatch(/^content-type: application\/json$/im);
  expect(answer?.head).toMatch(/^connection: close$/im);
  expect(answer?.head).toMatch(/^x-request-id: [\da-f-]{36}$/im);
  expect(answer?.head).toMatch(/^date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/im);
  expect(answer?.body).toEqual({ code: 'invalid_request', message: expect.stringMatching(/./), status });
  expect(unexpectedErrors).toEqual([]);
});

test('chunk extensions without end are refused', async () => {
  const { raw } = await startService();
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const [answer] = answersIn(await raw(`${head}2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`));
  expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large', status: 413 } });
});

test('requests that are sent without waiting are answered in their order', async () => {
  const { add, raw } = await startService();
  const body = '{"name":"Rex","categoryId":1}';
  await add(body);
  const answers = answersIn(
    await raw(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
        `GET /v1/pets/1 HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\n` +
        'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n' +
        'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 401, 200]);
});

test('a client that closes its side behind its requests gets every answer', async () => {
  const { port } = await startService();
  const body = '{"name":"Rex","categoryId":1}';
  const post =
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(post.repeat(3)));
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  await once(socket, 'end');
  expect(answersIn(received).map(({ status }) => status)).toEqual([201, 201, 201]);
});

test('after good requests, bytes that are none get an answer of their own', async () => {
  const { raw } = await startService();
  const get = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
  const body = '{"name":"Rex","categoryId":1}';
  const post =
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const answers = answersIn(await raw(`${get}${post}${get}hello\r\n\r\n`));
  expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 400]);
});

test('bytes that break off a request are answered once', async () => {
  const { raw } = await startService();
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\nX-Request-Id: the-one-that-was-sent\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const answers = answersIn(await raw(`${head}2\r\n{}\r\nhello\r\n`));
  expect(answers.map(({ status }) => status)).toEqual([400]);
  expect(answers[0]?.head).toContain('X-Request-Id: the-one-that-was-sent');
});

test('a body that is refused unread leaves the connection in order', async () => {
  const { raw } = await startService();
  const body = 'x'.repeat(70_000);
  const answers = answersIn(
    await raw(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello` +
        'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([413, 401, 200]);
});

test.each([
  'GET http://example.org/livez HTTP/1.1\r\nHost: example.org\r\n',
  'GET HTTPS://EXAMPLE.ORG:443/livez?x=y HTTP/1.1\r\nHost: example.org\r\n',
  'GET /livez HTTP/1.1\r\nHost: [::1]:3000\r\n',
  'GET /livez HTTP/1.1\r\nHost: x:\r\n',
  'GET /livez HTTP/1.1\r\nHost: \r\n',
  'GET /livez HTTP/1.1\r\nHost: Animals_1.example.:65535\r\n',
  'GET /livez HTTP/1.0\r\nHost: x\r\n',
  'GET /livez HTTP/1.0\r\n',
])('%j is understood', async (request) => {
  const { raw } = await startService();
  expect(await raw(`${request}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test.each([
  ['OPTIONS *', 404],
  ['GET http://example.org', 404],
  ['GET http://example.org?x', 404],
  ['GET ftp://example.org/livez', 404],
  ['GET /v1\\pets', 404],
  ['GET /v1/pets\\1', 401],
  ['GET /v1/../livez', 200],
  ['GET /livez/%2E%2e/v1/pets', 401],
  ['GET /livez?\\^`{|}"<>', 200],
])('%s is a path like any other: %d', async (line, status) => {
  const { raw, unexpectedErrors } = await startService();
  const [answer] = answersIn(await raw(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
  expect(answer?.status).toBe(status);
  expect(unexpectedErrors).toEqual([]);
});

test('a client that goes away in the middle of its body does no harm', async () => {
  const { port, call, unexpectedErrors } = await startService();
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name`;
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
  // Nothing waits for the rest.
  const inFlight = async () => /^http_requests_in_flight (\d+)$/m.exec((await call('GET', '/metrics')).text)?.[1];
  await expect.poll(inFlight).toBe('1');
  expect(unexpectedErrors).toEqual([]);
});

test('the body of a client that went away while its key was looked up is not waited for', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
    socket.write('POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"name');
  });
  const [incoming, outgoing] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  socket.destroy();
  await new Promise((resolve) => incoming.on('close', resolve));
  await expect(readBody(incoming, outgoing)).rejects.toThrow(/ended before/);
});

test('a client that asks for a tunnel and is gone does no harm', async () => {
  const { port, call, unexpectedErrors } = await startService();
  for (let count = 0; count < 20; count += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', () => socket.resetAndDestroy());
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  }
  expect((await call('GET', '/livez')).status).toBe(200);
  expect(unexpectedErrors).toEqual([]);
});

test('a client that never stops sending nonsense is told so once, and cut off', async () => {
  const { port } = await startService();
  const received = await new Promise<string>((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const sending = setInterval(() => socket.write('hello\r\n\r\n'), 20);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(sending);
      resolve(Buffer.concat(chunks).toString());
    });
  });
  expect(answersIn(received).map(({ status }) => status)).toEqual([400]);
});

test('a tunnel is refused behind the answers to what was asked before', async () => {
  const { raw } = await startService();
  const body = '{"name":"Rex","categoryId":1}';
  const post =
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}Content-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const tunnel = 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n';
  expect(answersIn(await raw(post + post + tunnel)).map(({ status }) => status)).toEqual([201, 201, 400]);
});

test('a tunnel that is refused does not stay open', async () => {
  const { port } = await startService();
  const received = await new Promise<string>((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n');
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // The client keeps its side open: only a reset tells it that the other side is gone.
    const sending = setInterval(() => socket.write('still here'), 100);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(sending);
      resolve(Buffer.concat(chunks).toString());
    });
  });
  expect(answersIn(received).map(({ status }) => status)).toEqual([400]);
});
