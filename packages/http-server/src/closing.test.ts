import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { closeGracefully } from './closing.ts';

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Both sides of a connection. Each can end its own. */
async function connection(): Promise<{ socket: Socket; client: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true }).resume();
  const [socket] = await accepted;
  onTestFinished(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return { socket: socket.resume(), client };
}

describe(closeGracefully, () => {
  test('has the connection time out if nothing arrives after the last response', async () => {
    const { socket } = await connection();
    const timeout = once(socket, 'timeout');
    closeGracefully(socket, { idle: 20, max: 60_000 });
    await timeout;
  });

  test('ends its side, and has one timer until the client has ended its own', async () => {
    useFakeTimers();
    const { socket, client } = await connection();
    const ended = once(client, 'end');
    closeGracefully(socket, { idle: 60_000, max: 60_000 });
    expect(vi.getTimerCount()).toBe(1);
    await ended;
    expect(vi.getTimerCount()).toBe(1);
    client.end();
    await once(socket, 'close');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('closes the connection if the client does not end its side', async () => {
    useFakeTimers();
    const { socket, client } = await connection();
    const ended = once(client, 'end');
    closeGracefully(socket, { idle: 60_000, max: 1_000 });
    await ended;
    vi.advanceTimersByTime(999);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
  });

  test('waits for a client that reads its response slowly, unless it continues to send', async () => {
    useFakeTimers();
    const { socket, client } = await connection();
    client.pause();
    // More than fits into the buffers of both sides.
    socket.write(Buffer.alloc(20_000_000));
    closeGracefully(socket, { idle: 60_000, max: 1_000 });
    vi.advanceTimersByTime(10_000);
    expect(socket.destroyed).toBe(false);
    client.write('more');
    await once(socket, 'data');
    vi.advanceTimersByTime(1_000);
    expect(socket.destroyed).toBe(true);
  });
});
