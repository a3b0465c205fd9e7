import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startTcpProxy } from '../src/index.ts';

async function connectTo(address: string): Promise<Socket> {
  const client = connect(Number(address.split(':')[1]), '127.0.0.1').on('error', () => {});
  await once(client, 'connect');
  await expectEcho(client);
  return client;
}

async function expectEcho(client: Socket): Promise<void> {
  client.write('Rex');
  expect(String((await once(client, 'data'))[0])).toBe('Rex');
}

/** The reset that comes before is an error. */
const closed = (client: Socket) => new Promise((resolve) => client.on('close', resolve));

test('a proxy before two nodes counts connections and chunks of both, resets that of the last chunk, and cuts all', async () => {
  const server = createServer((socket) => void socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = await startTcpProxy(target, () => target);
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  const [one, other] = (await Promise.all(proxy.addresses.map(connectTo))) as [Socket, Socket];
  expect(proxy.connections()).toBe(2);

  const thirdChunk = proxy.afterChunks(3);
  await expectEcho(one);
  other.write('Max');
  const reset = await thirdChunk;
  const endOfOther = closed(other);
  reset();
  await endOfOther;
  await expectEcho(one);

  const endOfOne = closed(one);
  proxy.cut();
  await endOfOne;
  proxy.pass();
  await Promise.all(proxy.addresses.map(connectTo));
});
