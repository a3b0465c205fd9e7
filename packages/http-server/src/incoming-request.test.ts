import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { IncomingRequest } from './incoming-request.ts';
import { FairScheduler, Reading } from './reading.ts';

/** A request on a socket that is being read, and what its receiver has got of its body. */
async function incoming() {
  const socket = new Duplex({ read() {} }).resume() as unknown as Socket;
  await turn();
  const request = new IncomingRequest(socket);
  request.attach(new Reading(socket, new FairScheduler()));
  const events: string[] = [];
  const receive = () =>
    request.receive({
      onChunk: (chunk) => events.push(String(chunk)),
      onEnd: () => events.push('end'),
      onFailure: (reason) => events.push(reason.message),
    });
  const push = (count: number) => {
    for (let chunk = 0; chunk < count; chunk += 1) request.push(Buffer.from('x'));
  };
  return { socket, request, events, receive, push };
}

describe(IncomingRequest, () => {
  test('passes on the body that has arrived, then each chunk, then its end', async () => {
    const { request, events, receive } = await incoming();
    request.push(Buffer.from('one'));
    expect(request.isBeingRead).toBe(false);
    receive();
    expect(request.isBeingRead).toBe(true);
    request.push(Buffer.from('two'));
    request.complete = true;
    request.push(null);
    expect(events).toEqual(['one', 'two', 'end']);
    expect(request.isBeingRead).toBe(false);
  });

  test.each([
    ['received', ({ receive }: Awaited<ReturnType<typeof incoming>>) => receive()],
    ['streamed', ({ request }: Awaited<ReturnType<typeof incoming>>) => request.resume()],
  ])('yields to other connections after each 100 chunks of a body that is %s', async (_how, read) => {
    const connection = await incoming();
    const { socket, push } = connection;
    read(connection);
    for (let round = 0; round < 2; round += 1) {
      push(99);
      expect(socket.isPaused()).toBe(false);
      push(1);
      expect(socket.isPaused()).toBe(true);
      await turn();
      expect(socket.isPaused()).toBe(false);
    }
  });

  test('does not yield for a body that is not read, because Node stops reading it', async () => {
    const { socket, push } = await incoming();
    push(100);
    expect(socket.isPaused()).toBe(false);
  });
});
