import { describe, expect, test } from 'vitest';
import type { BodyReceiver, IncomingRequest } from './incoming-request.ts';
import { readBody } from './read-body.ts';
import { INCOMPLETE_BODY } from './rejection.ts';

/** A request with these header fields, and what gets its body. */
function requestWith(headers: object = {}) {
  const receivers: BodyReceiver[] = [];
  const request = { headers, receive: (receiver: BodyReceiver) => receivers.push(receiver) };
  return { request: request as unknown as IncomingRequest, receivers };
}

const TOO_LARGE = { name: 'Rejection', status: 413, message: 'the body must be at most 11 bytes' };

describe(readBody, () => {
  test.each([
    [[]],
    [['']],
    [['hello world']],
    [['hello', ' ', 'world']],
    [['', 'hello', '', ' worl', 'd', '']],
    [['h', 'e', 'l', 'l', 'o', ' ', 'w', 'o']],
    [[...'hello world']],
  ])('reads %j as it was sent', async (chunks) => {
    const { request, receivers } = requestWith();
    const reading = readBody(request, 11);
    for (const chunk of chunks) receivers[0]?.onChunk(Buffer.from(chunk));
    receivers[0]?.onEnd();
    expect((await reading).toString()).toBe(chunks.join(''));
  });

  test.each([[['hello worlds']], [['hello', ' worlds']], [['hello world', 's', 's']], [[...'hello worlds']]])(
    'rejects %j, which is above the limit',
    async (chunks) => {
      const { request, receivers } = requestWith();
      const reading = readBody(request, 11);
      for (const chunk of chunks) receivers[0]?.onChunk(Buffer.from(chunk));
      receivers[0]?.onEnd();
      await expect(reading).rejects.toMatchObject(TOO_LARGE);
    },
  );

  test('rejects a body above the limit before it is sent, if its length is announced', async () => {
    for (const length of ['12', '9'.repeat(400)]) {
      const { request, receivers } = requestWith({ 'content-length': length });
      await expect(readBody(request, 11)).rejects.toMatchObject(TOO_LARGE);
      expect(receivers).toEqual([]);
    }
    const { request, receivers } = requestWith({ 'content-length': '11' });
    void readBody(request, 11);
    expect(receivers).toHaveLength(1);
  });

  test('copies no body that comes in one piece', async () => {
    const { request, receivers } = requestWith();
    const reading = readBody(request, 11);
    const chunk = Buffer.from('hello world');
    receivers[0]?.onChunk(chunk);
    receivers[0]?.onEnd();
    expect(await reading).toBe(chunk);
  });

  test('fails with the reason why a body is incomplete', async () => {
    const { request, receivers } = requestWith();
    const reading = readBody(request, 11);
    receivers[0]?.onFailure(INCOMPLETE_BODY);
    await expect(reading).rejects.toBe(INCOMPLETE_BODY);
  });
});
