import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startListenerProcess } from './processes.ts';
import { exchange, get, serve } from './serving.ts';

/** Much less than the seconds that a client waits: a request can need several turns, on a slower machine. */
const LONGEST_TURN = 500;

const chunked = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;

function flood(port: number, first: string, piece: string, reads: boolean): void {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const write = () => {
    if (socket.writable && socket.write(piece)) setImmediate(write);
  };
  socket.on('error', () => {});
  socket.on('drain', write);
  if (reads) socket.resume();
  socket.write(first);
  write();
}

test.each([
  ['requests', 20, '', get('/').repeat(2_500)],
  ['bodies of tiny chunks that are not wanted', 60, chunked('/'), '1\r\nx\r\n'.repeat(10_000)],
  ['bodies of tiny chunks that are read', 60, chunked('/body'), '1\r\nx\r\n'.repeat(10_000)],
  ['bodies of tiny chunks that are streamed', 60, chunked('/streamed'), '1\r\nx\r\n'.repeat(10_000)],
  ['tiny chunks instead of reading a large response', 60, chunked('/huge'), '1\r\nx\r\n'.repeat(10_000)],
])(
  'serves others while clients send %s without end',
  async (_what, clients, first, piece) => {
    const { port } = await startListenerProcess();
    for (let count = 0; count < clients; count += 1) flood(port, first, piece, !first.includes('/huge'));
    const turns: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      await sleep(200);
      const probe = await exchange(port, get('/longest-turn', 'Connection: close\r\n'));
      turns.push(Number(probe.received().split('\r\n\r\n')[1]));
    }
    // The first turn parses bytes of all clients, and the parser's code is not compiled yet.
    expect(Math.max(...turns.slice(1))).toBeLessThan(LONGEST_TURN);
  },
  60_000,
);

test('reads no further while the body is not read', async () => {
  let buffered = 0;
  const { port } = await serve(async (request, response) => {
    await sleep(1_000);
    buffered = request.readableLength;
    response.end();
  });
  flood(port, chunked('/'), '1\r\nx\r\n'.repeat(10_000), true);
  await expect.poll(() => buffered).toBeGreaterThan(0);
  // Node reads 64 KiB at a time.
  expect(buffered).toBeLessThan(100_000);
});
