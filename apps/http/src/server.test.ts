import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startServer } from './server.ts';

test('a stop closes a connection whose response had begun before it, when the response ends', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<ServerResponse>();
  const server = await startServer(
    (_, response) => {
      response.write('begun');
      begin(response);
    },
    {
      ...{ host: '127.0.0.1', port: 0, maxConnections: 1 },
      onDrop() {},
      reject() {
        throw new Error('nothing is rejected');
      },
    },
  );
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: animals\r\n\r\n');
  await once(socket, 'data');
  const stopping = server.stop({ grace: 0, deadline: 600_000 });
  (await begun).end();
  expect(await stopping).toBe(0);
});
