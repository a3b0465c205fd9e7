import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import {
  AUTHORIZATION,
  CLOSE,
  JSON_TYPE,
  length,
  openSocket,
  request,
  startWaitingServer,
  statusesIn,
  test,
} from './service.ts';

const CREATION = AUTHORIZATION + JSON_TYPE;
const REX = '{"name":"Rex","categoryId":1}';

/** What comes back next, within the time that any response may take. */
async function nextOf(socket: Socket): Promise<string> {
  const [chunk] = await once(socket, 'data', { signal: AbortSignal.timeout(30_000) });
  return String(chunk);
}

test('a client that reads only after it has sent 5 MB gets a 413 that leaves the connection open', async ({
  service: { port },
}) => {
  const body = Buffer.alloc(5_000_000, ' ');
  const socket = openSocket(port);
  socket.write(request('POST /v1/pets', CREATION + length(body.length)));
  await new Promise((resolve) => socket.write(body, resolve));
  expect(statusesIn(await nextOf(socket))).toEqual([413]);
  socket.write(request('GET /v1/pets', AUTHORIZATION));
  expect(statusesIn(await nextOf(socket))).toEqual([200]);
});

test.for([
  [401, 'POST /v1/pets', JSON_TYPE + length(29)],
  [413, 'POST /v1/pets', CREATION + length(70_000_000)],
  [415, 'POST /v1/pets', AUTHORIZATION + length(29)],
  [405, 'PUT /v1/pets', AUTHORIZATION + length(29)],
  [404, 'POST /x', length(29)],
  [400, 'POST /v1/pets', `Host: y\r\n${CREATION}${length(29)}`],
] as const)('responds with %d to %s (%j), before the body is sent', async ([status, line, fields], { service }) => {
  const socket = openSocket(service.port);
  socket.write(request(line, fields));
  expect(statusesIn(await nextOf(socket))).toEqual([status]);
});

test('a client that expects 100 Continue gets it, and then the response', async ({ service: { port } }) => {
  const socket = openSocket(port);
  socket.write(request('POST /v1/pets', `Expect: 100-continue\r\n${CREATION}${length(REX.length)}`));
  expect(await nextOf(socket)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(REX);
  expect(statusesIn(await nextOf(socket))).toEqual([201]);
});

test('serves a client that expects anything else as if it expected nothing', async ({ service: { raw } }) => {
  const fields = `Expect: 200-ok\r\n${CREATION}${length(REX.length)}${CLOSE}`;
  expect(statusesIn(await raw(request('POST /v1/pets', fields, REX)))).toEqual([201]);
});

test('rejects the body of a client that resets its connection before the body is read', async () => {
  const { port, arrived } = await startWaitingServer();
  const socket = openSocket(port);
  socket.write(request('POST /', length(9)));
  const [incoming] = await arrived;
  const lost = new Promise((lose) => incoming.on('error', () => {}).on('close', lose));
  socket.resetAndDestroy();
  await lost;
  await expect(incoming.readBody()).rejects.toThrow('the request ended before its body did');
});
