import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readBody } from '../src/index.ts';
import { get, open, post, serve } from './serving.ts';

const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n';
const LAST = get('/last', 'Connection: close\r\n');

/** A server that responds with the target and the body of each request. */
async function echo() {
  const targets: string[] = [];
  const { port } = await serve(async (request, response) => {
    targets.push(`${request.method} ${request.url}`);
    response.end(await readBody(request, 1_000));
  });
  return { port, targets };
}

describe('a request that asks for another protocol', () => {
  test.each([
    ['GET', get('/', UPGRADE)],
    ['POST', post('/', 'hello', UPGRADE)],
  ])('%s is served as HTTP/1.1 on a connection that stays open', async (_method, bytes) => {
    const { port, targets } = await echo();
    const { socket, statuses, closed } = open(port, bytes);
    await expect.poll(statuses).toEqual([200]);
    socket.write(LAST);
    await closed;
    expect(statuses()).toEqual([200, 200]);
    expect(targets).toEqual([expect.stringMatching(/^\w+ \/$/), 'GET /last']);
  });

  test('leaves the connection open if its body comes in a packet of its own', async () => {
    const { port } = await echo();
    const { socket, statuses, closed } = open(port, post('/', 'hello', UPGRADE).slice(0, -5));
    await sleep(50);
    socket.write('hello');
    await expect.poll(statuses).toEqual([200]);
    socket.write(LAST);
    await closed;
    expect(statuses()).toEqual([200, 200]);
  });

  test('closes the connection if it is not the first one, and its response comes before its body', async () => {
    const { port } = await serve();
    const first = get('/');
    const { socket, received, statuses, closed } = open(port, first);
    await expect.poll(statuses).toEqual([200]);
    // As many bytes are missing as came before.
    socket.write(post('/', first, UPGRADE).slice(0, -first.length));
    await closed;
    expect(statuses()).toEqual([200, 200]);
    expect(received().split('HTTP/1.1 ').at(-1)).toMatch(/^200 OK\r\n(?:.+\r\n)*Connection: close\r\n/);
  });

  // Node's parser drops the rest of the packet: what follows would be read from its middle.
  test.each([
    ['that is cut', get('/', UPGRADE), post('/second', get('/stolen')).length - get('/stolen').length],
    [
      'that is cut, behind a body',
      post('/', 'hello', UPGRADE),
      post('/second', get('/stolen')).length - get('/stolen').length,
    ],
    ['that is complete', get('/', UPGRADE), post('/second', get('/stolen')).length],
    ['of which one byte has come, and spaces are missing', get('/', UPGRADE.replaceAll(': ', ':')), 1],
    ['behind a line break', `\r\n\r\n${get('/', UPGRADE)}`, 1],
    ['behind other requests', get('/first') + get('/', UPGRADE), 1],
    ['behind chunks', `${get('/', `${UPGRADE}Transfer-Encoding: chunked\r\n`)}0\r\n\r\n`, 1],
  ])('closes the connection if it came with a request %s', async (_what, bytes, length) => {
    const { port, targets } = await echo();
    const second = post('/second', get('/stolen'));
    const { socket, received, closed, errors } = open(port, bytes + second.slice(0, length));
    await sleep(50);
    socket.write(second.slice(length));
    await closed;
    expect(targets.at(-1)).toMatch(/^\w+ \/$/);
    expect(received().split('HTTP/1.1 ').at(-1)).toMatch(/^200 OK\r\n(?:.+\r\n)*Connection: close\r\n/);
    expect(errors).toEqual([]);
  });
});
