import { expect, test } from 'vitest';
import { type ServerOptions, startServer } from '../src/index.ts';
import { exchange, get, open, serve } from './serving.ts';

test('a response names the time for which its connection stays open', async () => {
  const { port } = await serve(undefined, { keepAliveTimeout: 7_000 });
  const { received } = open(port, get('/'));
  await expect.poll(received).toMatch(/\r\nConnection: keep-alive\r\nKeep-Alive: timeout=7\r\n/);
});

test('a listener closes the connection with a Connection field', async () => {
  const { port, served } = await serve((_request, response) => {
    response.setHeader('Connection', 'close');
    response.end();
  });
  const { received, errors } = await exchange(port, get('/'));
  expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Connection: close\r\n/);
  expect(served()).toBe(1);
  expect(errors).toEqual([]);
});

test('a listener is notified of the end of a response, also of the last one', async () => {
  let finished = 0;
  const { port } = await serve((_request, response) => {
    response.on('finish', () => {
      finished += 1;
    });
    response.end();
  });
  await exchange(port, get('/') + get('/', 'Connection: close\r\n'));
  expect(finished).toBe(2);
});

test('a server fails to start with the error of the system if its port is in use', async () => {
  const { port } = await serve();
  const options: ServerOptions = {
    ...{ host: '127.0.0.1', port, maxConnections: 1 },
    renderRejection: () => ({ headers: {}, body: '' }),
  };
  await expect(startServer(() => {}, options)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
