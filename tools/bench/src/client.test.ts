import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { bytesOf, sendRequests } from './client.ts';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends so many requests on two connections. */
async function send(url: string, count: number) {
  const responses: string[] = [];
  let sent = 0;
  const lost = await sendRequests({
    url,
    connections: 2,
    next: () => (sent < count ? bytesOf({ method: 'POST', path: '/', body: `"${sent++}é"` }, { 'x-key': 'k' }) : null),
    onResponse: (status, milliseconds, body) => {
      expect(milliseconds).toBeGreaterThan(0);
      responses.push(`${status} ${body}`);
    },
  });
  return { responses: responses.sort(), lost };
}

/** Responds with the body of the request. */
const echo =
  (respond: (body: string, response: Parameters<RequestListener>[1]) => void): RequestListener =>
  async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    respond(body + request.headers['x-key'], response);
  };

const EXPECTED = ['200 "0é"k', '200 "1é"k', '200 "2é"k', '200 "3é"k'];

test.each<[string, Parameters<typeof echo>[0]]>([
  ['with a length', (body, response) => response.end(body)],
  [
    'after which the connection closes',
    (body, response) =>
      response.writeHead(200, { connection: 'close', 'content-length': Buffer.byteLength(body) }).end(body),
  ],
])('receives responses %s', async (_, respond) => {
  expect(await send(await serve(echo(respond)), 4)).toEqual({ responses: EXPECTED, lost: 0 });
});

test('receives responses in pieces', async () => {
  // More than a socket reads at once.
  const url = await serve(
    echo((body, response) => {
      response.write(body.padEnd(2 ** 20));
      response.end('.');
    }),
  );
  const { responses, lost } = await send(url, 4);
  expect(responses).toHaveLength(4);
  for (const response of responses) expect(response).toMatch(/^200 [0-9a-f]+\r\n"\dé"k +\r\n1\r\n\.\r\n0\r\n\r\n$/);
  expect(lost).toBe(0);
});

test.each<[string, RequestListener]>([
  ['closes', (_request, response) => void response.destroy()],
  ['resets', (_request, response) => void response.socket?.resetAndDestroy()],
])('counts the requests, and ends, if a server %s connections without a response', async (_, listener) => {
  expect(await send(await serve(listener), 4)).toEqual({ responses: [], lost: 2 });
});
