import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { joinProxies, startTcpProxy } from '../src/index.ts';

/** Starts a server that returns what it gets, behind two proxies, to each of which a client is connected. */
async function startNodes() {
  const server = createServer((socket) => void socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [one, other] = [await startTcpProxy(target), await startTcpProxy(target)];
  const joined = joinProxies([one, other]);
  onTestFinished(async () => {
    await joined.close();
    server.close();
  });
  const clients = await Promise.all([connectTo(one.address), connectTo(other.address)]);
  return { joined, clients };
}

async function connectTo(address: string): Promise<Socket> {
  const client = connect(Number(address.split(':')[1]), '127.0.0.1').on('error', () => {});
  await once(client, 'connect');
  await expectEcho(client);
  return client;
}

/** The reset that comes before is an error. */
const closed = (client: Socket) => new Promise((resolve) => client.on('close', resolve));

async function expectEcho(client: Socket): Promise<void> {
  client.write('Rex');
  expect(String((await once(client, 'data'))[0])).toBe('Rex');
}

test('joined proxies count the connections and the chunks of all, and reset only the one of the last chunk', async () => {
  const { joined, clients } = await startNodes();
  const [one, other] = clients as [Socket, Socket];
  expect(await joined.connections()).toBe(2);
  const thirdChunk = joined.afterChunks(3);
  await expectEcho(one);
  other.write('Max');
  const reset = await thirdChunk;
  const end = closed(other);
  reset();
  await end;
  await expectEcho(one);
});

test('joined proxies cut the connections of all, and let new ones through again', async () => {
  const { joined, clients } = await startNodes();
  const ends = clients.map(closed);
  joined.cut();
  await Promise.all(ends);
  joined.pass();
  await connectTo(joined.address);
});

test('joined proxies stop waiting for chunks if the signal is aborted', async () => {
  const { joined } = await startNodes();
  const waiting = new AbortController();
  const chunk = joined.afterChunks(1, waiting.signal);
  waiting.abort();
  await expect(chunk).rejects.toThrow('aborted');
});
