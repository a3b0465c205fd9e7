import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Connection } from './connection.ts';
import type { Rejection } from './rejection.ts';
import type { Listener } from './server.ts';
import { MAX_QUEUED_REQUESTS } from './size-limits.ts';
import { createServer } from './start-server.ts';

/** A connection in memory has no time limit for inactivity. */
class MemorySocket extends Duplex {
  setTimeout(): this {
    return this;
  }
}

/** A server that does not listen: its connections are in memory, and their clients are the test. */
function serve(listener: Listener) {
  const drops: string[] = [];
  const rejections: Rejection[] = [];
  const served: string[] = [];
  const { server, connections } = createServer(
    (request, response) => {
      served.push(String(request.url));
      listener(request, response);
    },
    {
      maxConnections: 10,
      onDrop: (reason) => drops.push(reason),
      renderRejection(rejection) {
        rejections.push(rejection);
        return { headers: {}, body: '' };
      },
    },
  );
  const connect = async () => {
    let received = '';
    const socket = new MemorySocket({
      read() {},
      write(bytes, _encoding, done) {
        received += bytes;
        done();
      },
    });
    onTestFinished(() => void socket.destroy());
    server.emit('connection', socket);
    await turn();
    return { socket, send: (bytes: string) => socket.push(bytes), received: () => received };
  };
  /** Node reports the request that the parser reads or expects as late. */
  const timeOut = (socket: Duplex) => {
    server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  };
  return { connections, connect, timeOut, drops, rejections, served };
}

/** Writes the head of a last response. */
const begin: Listener = (_request, response) => {
  response.shouldKeepAlive = false;
  response.flushHeaders();
};
const respondLast: Listener = (request, response) => {
  begin(request, response);
  response.end();
};
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe(Connection, () => {
  test('reads 100 chunks of a body at a time, in turn with other connections', async () => {
    let chunks = 0;
    const { connect } = serve((request) => {
      request.receive({ onChunk: () => (chunks += 1), onEnd() {}, onFailure() {} });
    });
    const { send } = await connect();
    send(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(100)}`);
    send('1\r\nx\r\n');
    expect(chunks).toBe(100);
    await turn();
    expect(chunks).toBe(101);
  });

  test('reads nothing more if a request comes after the head of the last response', async () => {
    const { connect } = serve(begin);
    const { socket, send } = await connect();
    for (const path of ['/', '/second', '/third']) {
      send(get(path));
      await turn();
    }
    expect(socket.readableLength).toBe(get('/third').length);
  });

  test('is not dropped for the requests that come after its last response', async () => {
    const { connect, drops } = serve(respondLast);
    const { send, received } = await connect();
    send(get('/').repeat(MAX_QUEUED_REQUESTS + 10));
    await expect.poll(received).toContain('HTTP/1.1 200 OK');
    expect(drops).toEqual([]);
  });

  test('counts no request as waiting after its last response has begun', async () => {
    const work: (() => void)[] = [];
    const { connect, drops } = serve((request, response) => work.push(() => begin(request, response)));
    for (let count = 0; count < 2; count += 1) {
      const { send } = await connect();
      send(get('/').repeat(MAX_QUEUED_REQUESTS - 10));
      work[count]?.();
    }
    expect(drops).toEqual([]);
  });

  test('is read only after the memory of dropped connections is free', async () => {
    const { connect, drops, served } = serve(() => {});
    const [greedy, modest] = [await connect(), await connect()];
    greedy.send(get('/greedy').repeat(MAX_QUEUED_REQUESTS + 10));
    expect(drops).toEqual(['requests']);
    modest.send(get('/modest'));
    expect(served).toEqual(['/greedy']);
    await expect.poll(() => served).toEqual(['/greedy', '/modest']);
  });

  test('is not dropped for others on which more requests wait', async () => {
    const { connect, drops } = serve(() => {});
    const [modest, greedy] = [await connect(), await connect()];
    modest.send(get('/').repeat(2));
    greedy.send(get('/').repeat(MAX_QUEUED_REQUESTS + 10));
    expect(drops).toEqual(['requests']);
    expect([modest.socket.destroyed, greedy.socket.destroyed]).toEqual([false, true]);
  });

  test('closes after the responses to its requests if the server drains, also between two of them', async () => {
    const { connections, connect, served } = serve((_request, response) => {
      response.on('close', () => connections.drain());
      setImmediate(() => response.end());
    });
    const { socket, send, received } = await connect();
    send(get('/').repeat(2));
    connections.drain();
    await once(socket, 'finish');
    expect(served).toHaveLength(2);
    expect(received().match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });

  test('serves no request that waits if the socket is destroyed between two responses', async () => {
    const errors: Error[] = [];
    const fail = (error: Error) => errors.push(error);
    process.on('uncaughtException', fail);
    onTestFinished(() => void process.off('uncaughtException', fail));
    const { connect, served } = serve((request, response) => {
      response.on('close', () => request.socket.destroy()).end();
    });
    const { socket, send } = await connect();
    send(get('/').repeat(3));
    await once(socket, 'close');
    await turn();
    expect(served).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  test('rejects no late request after its last response', async () => {
    const { connect, timeOut, rejections } = serve(respondLast);
    const { socket, send, received } = await connect();
    send(`${get('/')}GET /second`);
    await once(socket, 'finish');
    timeOut(socket);
    expect(rejections).toEqual([]);
    expect(received().match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test('rejects no late request after it has been closed because it was idle', async () => {
    const { connections, connect, timeOut, rejections } = serve(respondLast);
    const { socket, received } = await connect();
    connections.drain();
    await once(socket, 'finish');
    timeOut(socket);
    expect(rejections).toEqual([]);
    expect(received()).toBe('');
  });

  test('leaves no timer if its last response comes after the client has disconnected', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let respond = () => {};
    const { connect } = serve((request, response) => {
      respond = () => respondLast(request, response);
    });
    const { socket, send } = await connect();
    send(get('/'));
    socket.destroy();
    await once(socket, 'close');
    respond();
    expect(vi.getTimerCount()).toBe(0);
  });
});
