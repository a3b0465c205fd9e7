import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FairScheduler, Reading } from './reading.ts';

/** A connection whose socket is being read, and what the parser has got of its bytes. */
async function connection(scheduler = new FairScheduler()) {
  const socket = new Duplex({ read() {} });
  const parsed: string[] = [];
  socket.on('data', (chunk) => parsed.push(String(chunk)));
  await turn();
  return { socket, parsed, reading: new Reading(socket as unknown as Socket, scheduler) };
}

describe(Reading, () => {
  test('reads nothing while it is held, even if Node resumes the socket', async () => {
    const { socket, parsed, reading } = await connection();
    reading.hold();
    socket.push('one');
    await turn();
    expect(parsed).toEqual([]);
    socket.resume();
    await turn();
    expect(parsed).toEqual([]);
  });

  test('reads on when it is released as often as it was held', async () => {
    const { socket, parsed, reading } = await connection();
    reading.hold();
    reading.hold();
    socket.push('one');
    reading.release();
    await turn();
    expect(parsed).toEqual([]);
    reading.release();
    await turn();
    expect(parsed).toEqual(['one']);
  });

  test('yields to others for one turn, however often it has to, and again later', async () => {
    const scheduler = new FairScheduler();
    const [first, second] = [await connection(scheduler), await connection(scheduler)];
    const parsed = () => [first.parsed.join(), second.parsed.join()];
    for (const [before, text, after] of [
      ['', 'one', 'one'],
      ['one', 'two', 'one,two'],
    ]) {
      for (const { reading } of [first, first, second]) reading.yieldToOthers();
      for (const { socket } of [first, second]) socket.push(text);
      expect(parsed()).toEqual([before, before]);
      await turn();
      expect(parsed()).toEqual([after, before]);
      await turn();
      expect(parsed()).toEqual([after, after]);
    }
  });

  test('discards what arrives, whatever it is held for, a piece in each turn', async () => {
    const { socket, parsed, reading } = await connection();
    reading.hold();
    socket.push('one');
    socket.push('two');
    reading.discard();
    await turn();
    expect(socket.readableLength).toBe('two'.length);
    await turn();
    await turn();
    expect(socket.readableLength).toBe(0);
    expect(parsed).toEqual([]);
  });
});
