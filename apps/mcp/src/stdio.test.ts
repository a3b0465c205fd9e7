import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createStdioTransport } from './stdio.ts';

/** Returns the messages that the transport passes on and writes until its input ends. */
async function received(...chunks: (string | Buffer)[]) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { promise: end, resolve: onEnd } = Promise.withResolvers<unknown>();
  const transport = createStdioTransport(input, output, onEnd);
  const messages: unknown[] = [];
  transport.onmessage = (message) => {
    messages.push(message);
    if ('id' in message && 'method' in message) void transport.send({ jsonrpc: '2.0', id: message.id, result: {} });
  };
  await transport.start();
  for (const chunk of chunks) input.write(chunk);
  input.end();
  await end;
  const lines = String(output.read() ?? '').trim();
  return { messages, written: lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line)) };
}

const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'list_pets' } };
const text = JSON.stringify(call);

test.each<[string, string | Buffer, number, unknown]>([
  ['no JSON', 'nonsense', -32700, null],
  ['bytes that are not UTF-8', Buffer.from('{"\xff":1}', 'latin1'), -32700, null],
  ['more than 10 MiB', JSON.stringify({ ...call, method: 'x'.repeat(10 * 1024 * 1024) }), -32700, null],
  ['null', 'null', -32600, null],
  ['a batch', `[${text}]`, -32600, null],
  ['an object', '{}', -32600, null],
  ['another version', '{"jsonrpc":"1.0","id":7,"method":"tools/call"}', -32600, 7],
  ['a request with wrong parameters', '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":5}', -32600, 'a'],
  ['a request with a wrong id', '{"jsonrpc":"2.0","id":{},"method":"tools/call"}', -32600, null],
  ['a response without a result', '{"jsonrpc":"2.0","id":7}', -32600, null],
])('rejects %s, and reads the next message', async (_, line, code, id) => {
  const { messages, written } = await received(line, '\n', `${text}\n`);
  expect(messages).toEqual([call]);
  const error = { code, message: expect.stringMatching(/^the message is /) };
  expect(written).toEqual([
    { jsonrpc: '2.0', id, error },
    { jsonrpc: '2.0', id: 7, result: {} },
  ]);
});

test('ignores blank lines, and reads messages in pieces and a last one without a line end', async () => {
  const { messages, written } = await received('\r\n \n', text.slice(0, 9), `${text.slice(9)}\r\n`, text);
  expect(messages).toEqual([call, call]);
  expect(written).toHaveLength(2);
});
