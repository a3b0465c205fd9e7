import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Rejection, readBody } from '../src/index.ts';
import { MAX_HEADER_SIZE } from '../src/size-limits.ts';
import { exchange, get, open, openPaused, respondAfter, respondWith, serve, TUNNEL } from './serving.ts';

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const malformed = (method = 'POST') => `${method} / HTTP/1.1\r\nHost: x\r\n${CHUNKED}\r\nhello\r\n`;

/** Warnings of Node.js until the running test ends. */
function processWarnings(): readonly Error[] {
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  return warnings;
}

describe('a request that is not valid HTTP is rejected without the listener', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['a target without a host', 'GET http:///x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['a blank in the target', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/3.7\r\n\r\n', 400],
    ['HTTP/2.0 written like HTTP/1.1', 'GET / HTTP/2.0\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['HTTP/0.9 with fields', 'GET / HTTP/0.9\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['lines that end in LF alone', 'GET / HTTP/1.1\nHost: x\n\n', 400],
    ['a line that ends in LF alone', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\nC: d\r\n\r\n', 400],
    ['a line that ends in CR alone', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n', 400],
    ['a folded field', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n', 400],
    ['a method in small letters', 'get / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an empty length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\n', 400],
    ['two equal lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx', 400],
    ['an empty transfer coding', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \r\n\r\n', 400],
    ['chunks twice', `POST / HTTP/1.1\r\nHost: x\r\n${CHUNKED}${CHUNKED}\r\n0\r\n\r\n`, 400],
    ['a coding behind chunks', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n', 400],
    ['a header line without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n', 400],
    ['a target that is no URL', 'GET livez HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a byte outside ASCII in the target', 'GET /?ü HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n', 400],
    ['a NUL in a field', 'GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
    ['length and chunks', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n${CHUNKED}\r\n0\r\n\r\n`, 400],
    ['a header section above 16 KiB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a target above 16 KiB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['CONNECT', TUNNEL, 400],
    ['no Host field', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['an impossible Host', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
    ['two Host fields', 'GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ])('%s', async (_what, bytes, status) => {
    const { port, rejections } = await serve(() => expect.unreachable());
    const { received, errors } = await exchange(port, bytes);
    const [head, body] = received().split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/^Content-Type: text\/plain$/m);
    expect(head).toMatch(/^Connection: close$/m);
    expect(head).toMatch(/^Date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/m);
    expect(head).toMatch(new RegExp(`^Content-Length: ${body?.length}$`, 'm'));
    expect(rejections).toEqual([expect.objectContaining({ status, message: body })]);
    expect(errors).toEqual([]);
  });

  test.each([
    ['a Host field with an address', 'GET / HTTP/1.1\r\nHost: [::1]:3000\r\n'],
    ['a Host field with nothing', 'GET / HTTP/1.1\r\nHost: \r\n'],
    ['a Host field with a name, in HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\n'],
    ['no Host field, in HTTP/1.0', 'GET / HTTP/1.0\r\n'],
  ])('accepts %s', async (_what, request) => {
    const { port } = await serve();
    expect((await exchange(port, `${request}Connection: close\r\n\r\n`)).statuses()).toEqual([200]);
  });
});

describe('a rejection', () => {
  test('comes once, without a warning, if malformed bytes continue after a slow response', async () => {
    const { port, rejections } = await serve(respondAfter(400));
    const warnings = processWarnings();
    const { socket, statuses, closed } = open(port, get('/'));
    for (let count = 0; count < 20; count += 1) {
      await sleep(10);
      socket.write('hello\r\n\r\n');
    }
    await closed;
    expect(statuses()).toEqual([200, 400]);
    expect(rejections).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  test('causes no warning if it rejects CONNECT after many responses', async () => {
    const { port } = await serve(respondAfter(10));
    const warnings = processWarnings();
    const { statuses } = await exchange(port, get('/').repeat(20) + TUNNEL);
    expect(statuses()).toEqual([...Array(20).fill(200), 400]);
    expect(warnings).toEqual([]);
  });

  test('does not follow a last response that is still being written', async () => {
    const { port, rejections } = await serve(async (_request, response) => {
      response.write('one,');
      await sleep(200);
      response.end('two');
    });
    for (const bytes of ['hello\r\n\r\n', TUNNEL, get('/')]) {
      const { socket, received, closed } = open(port, `POST / HTTP/1.1\r\nHost: x\r\n${CHUNKED}\r\n`);
      await expect.poll(received).toContain('one,');
      socket.write(`0\r\n\r\n${bytes}`);
      await closed;
      expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
      expect(received()).toMatch(/two\r\n0\r\n\r\n$/);
    }
    expect(rejections).toEqual([]);
  });

  test.each([
    ['without a Host field', ''],
    ['with a malformed field', 'Host: x\r\nA : b\r\n'],
    ['with a header section that is too large', `Host: x\r\nA: ${'x'.repeat(20_000)}\r\n`],
  ])('has no body for a HEAD request %s', async (_what, fields) => {
    const { port } = await serve();
    for (const before of ['', get('/')]) {
      const { received } = await exchange(port, `${before}HEAD / HTTP/1.1\r\nConnection: close\r\n${fields}\r\n`);
      expect(received()).toMatch(/HTTP\/1\.1 4\d\d .+\r\n(?:.+\r\n)*Content-Length: [1-9]\d*\r\n(?:.+\r\n)*\r\n$/);
    }
  });

  test.each([
    ['a header section that is too large', `GET / HTTP/1.1\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, /16384 bytes/],
    ['a blank in the target', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', /a blank in the target as %20/],
    ['an empty host in the target', 'GET http:///a HTTP/1.0\r\n\r\n', /host in the request target is empty/],
  ])('names %s', async (_what, bytes, message) => {
    const { port, rejections } = await serve();
    await exchange(port, bytes);
    expect(rejections[0]?.message).toMatch(message);
  });

  test('depends, for a large header section, on the target and on the names and values of the fields', async () => {
    const { port } = await serve();
    const others = 'HostxAConnectionclose'.length;
    const sized = (target: number, value: number) =>
      `GET /${'x'.repeat(target - 1)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nA: ${'x'.repeat(value)}\r\n\r\n`;
    for (const target of [1, 1_000, 16_000]) {
      const value = MAX_HEADER_SIZE - target - others;
      expect((await exchange(port, sized(target, value - 1))).statuses()).toEqual([200]);
      expect((await exchange(port, sized(target, value))).statuses()).toEqual([431]);
    }
  });

  test('leaves the connection open if the request is complete', async () => {
    const { port } = await serve();
    const { statuses } = await exchange(port, `GET / HTTP/1.1\r\n\r\n${get('/', 'Connection: close\r\n')}`);
    expect(statuses()).toEqual([400, 200]);
  });

  test('is rendered with its request', async () => {
    const seen: unknown[] = [];
    const { port } = await serve(undefined, undefined, {
      renderRejection({ status }, { request, socket }) {
        seen.push([status, request?.headers['x-request-id'] ?? request, socket.remoteAddress]);
        return { headers: {}, body: '' };
      },
    });
    for (const bytes of ['hello\r\n\r\n', 'GET / HTTP/1.0\r\nHost: x y\r\nX-Request-Id: one\r\n\r\n']) {
      await exchange(port, bytes);
    }
    expect(seen).toEqual([
      [400, null, '127.0.0.1'],
      [400, 'one', '127.0.0.1'],
    ]);
  });
});

describe('a malformed body', () => {
  test('fails in the listener that reads it, whose response closes the connection', async () => {
    let error: unknown;
    const { port, rejections } = await serve(async (request, response) => {
      await readBody(request, 100).catch((thrown: Rejection) => {
        error = thrown;
      });
      response.writeHead((error as Rejection).status);
      response.end();
    });
    const { received, errors } = await exchange(port, malformed());
    expect(received()).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\nConnection: close\r\n/);
    expect(error).toMatchObject({ name: 'Rejection', status: 400, message: 'a chunk of the body is malformed' });
    expect(rejections).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('ends its stream with an error in a listener that streams it, whose response closes the connection', async () => {
    let error: unknown;
    const { port, rejections } = await serve((request, response) => {
      request.resume().on('error', (thrown) => {
        error = thrown;
        response.writeHead(400).end();
      });
    });
    const { received } = await exchange(port, malformed());
    expect(received()).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\nConnection: close\r\n/);
    expect(error).toMatchObject({ name: 'Rejection', status: 400, message: 'a chunk of the body is malformed' });
    expect(rejections).toEqual([]);
  });

  test('changes nothing for a listener that does not read it', async () => {
    const { port } = await serve(respondAfter(50));
    expect((await exchange(port, malformed())).statuses()).toEqual([200]);
    expect((await exchange(port, malformed('HEAD'))).statuses()).toEqual([200]);
  });

  test('is rejected without the listener while its request waits', async () => {
    const { port, served } = await serve(respondAfter(50));
    expect((await exchange(port, get('/') + malformed())).statuses()).toEqual([200, 400]);
    expect(served()).toBe(1);
  });

  test('has no response of its own after the response to its request', async () => {
    const { port, rejections } = await serve();
    const { statuses } = await exchange(port, `POST / HTTP/1.1\r\nHost: x\r\n${CHUNKED}\r\n2\r\n{}\r\nhello\r\n`);
    expect(statuses()).toEqual([200]);
    expect(rejections).toEqual([]);
  });
});

describe('a client', () => {
  test('causes no error if it disconnects after CONNECT', async () => {
    const { port } = await serve();
    for (let count = 0; count < 20; count += 1) {
      const { socket, closed } = open(port);
      socket.write(TUNNEL, () => socket.resetAndDestroy());
      await closed;
    }
    expect((await exchange(port, get('/', 'Connection: close\r\n'))).statuses()).toEqual([200]);
  });

  test('causes no error if it disconnects after CONNECT and responses that it does not read', async () => {
    const { port } = await serve(respondWith('x'.repeat(1_000_000)));
    const { socket } = openPaused(port, get('/').repeat(10) + TUNNEL);
    await sleep(300);
    socket.resetAndDestroy();
    await sleep(100);
    expect((await exchange(port, get('/', 'Connection: close\r\n'))).statuses()).toEqual([200]);
  });

  test.each([
    ['nonsense', 'hello\r\n\r\n'],
    ['a tunnel', TUNNEL],
  ])('is disconnected if it continues to send after the rejection of %s', async (_what, bytes) => {
    const { port } = await serve(undefined, { headersTimeout: 500, requestTimeout: 500 });
    const { socket, statuses, closed } = open(port, bytes);
    socket.removeAllListeners('end');
    const sending = setInterval(() => socket.write(bytes), 20);
    await closed;
    clearInterval(sending);
    expect(statuses()).toEqual([400]);
  });
});
