import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Rejection, readBody } from '../src/index.ts';
import { exchange, open, post, serve } from './serving.ts';

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 11\r\n\r\n';

describe(readBody, () => {
  // tools/explorer shows that bodies in pieces are read as they were sent, at once or later.

  test('lets the stream of the request end and close', async () => {
    const { port } = await serve(async (request, response) => {
      const events = Promise.all([once(request, 'end'), once(request, 'close')]);
      await readBody(request, 11);
      await events;
      response.end(`${request.complete} ${request.readableEnded} ${request.errored}`);
    });
    const { received } = await exchange(port, `${HEAD}hello world`);
    expect(received().split('\r\n\r\n')[1]).toBe('true true null');
  });

  test('reads a body to its end that Node has stopped reading because its buffer was full', async () => {
    const { port } = await serve(async (request, response) => {
      await expect.poll(() => request.readableLength).toBeGreaterThanOrEqual(request.readableHighWaterMark);
      const body = await readBody(request, 1_000_000);
      response.end(String(body.length));
    });
    const { received } = await exchange(port, post('/', 'x'.repeat(1_000_000), 'Connection: close\r\n'));
    expect(received().split('\r\n\r\n')[1]).toBe('1000000');
  });

  test.each([
    ['closes the connection while it is read', 'destroy', 0],
    ['closes the connection before it is read', 'destroy', 100],
    ['resets the connection while it is read', 'resetAndDestroy', 0],
    ['resets the connection before it is read', 'resetAndDestroy', 100],
  ] as const)('fails if the client %s', async (_when, leave, wait) => {
    const failures: Rejection[] = [];
    const { promise: received, resolve: receive } = Promise.withResolvers<void>();
    const { port } = await serve(async (request) => {
      // The client leaves before the listener reads if the listener waits, otherwise while it reads.
      if (wait > 0) {
        receive();
        await sleep(wait);
      }
      const read = readBody(request, 11).catch((error) => failures.push(error));
      receive();
      await read;
    });
    const { socket } = open(port, `${HEAD}hello`);
    await received;
    socket[leave]();
    await expect.poll(() => failures.length).toBe(1);
    expect(failures[0]).toMatchObject({ status: 400, message: expect.stringContaining('ended before') });
  });
});
