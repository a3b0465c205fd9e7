import { PassThrough, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTransport } from './transport.ts';

/** Sends these chunks to a transport whose server responds to each request with its parameters, unless it is cancelled. */
async function exchange(...chunks: (string | Buffer)[]) {
  let written = '';
  const input = new PassThrough();
  // Each response waits for the reader.
  const output = new Writable({
    highWaterMark: 1,
    write(chunk, _, onRead) {
      written += chunk;
      setImmediate(onRead);
    },
  });
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  const transport = createTransport(input, output, onClose);
  const errors: string[] = [];
  transport.onerror = ({ message }) => void errors.push(message);
  const messages: JSONRPCMessage[] = [];
  const cancelled = new Set<unknown>();
  transport.onmessage = (message) => {
    messages.push(message);
    if (!('method' in message)) return;
    if (!('id' in message)) return void cancelled.add(message.params?.['requestId']);
    setImmediate(() => {
      if (cancelled.has(message.id)) return;
      void transport.send({ jsonrpc: '2.0', id: message.id, result: { ...message.params } });
    });
  };
  await transport.start();
  for (const chunk of chunks) input.write(chunk);
  input.end();
  await closed;
  return { messages, errors, responses: written.match(/.+/g) ?? [] };
}

const request = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"Zoë"}}`;
const response = (id: string) => `{"jsonrpc":"2.0","id":${id},"result":{"name":"Zoë"}}`;

describe('createTransport', () => {
  test('gives responses the ids of their requests, whatever numbers and texts these are', async () => {
    const ids = ['7', '"7"', '9007199254740993', '-9223372036854775808', '1.5', '""', '"\\ud800"'];
    const { responses } = await exchange(ids.map((id) => `${request(id)}\n`).join(''));
    expect(responses).toEqual(ids.map(response));
  });

  test('sends many responses to a slow reader, without warnings', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const ids = Array.from({ length: 50 }, (_, index) => String(index));
    const { responses } = await exchange(ids.map((id) => `${request(id)}\n`).join(''));
    expect(responses).toEqual(ids.map(response));
    expect(warnings).toEqual([]);
  });

  test('passes on the cancellation of a request under the same id as the request', async () => {
    const id = '9007199254740993';
    const cancellation = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
    const { messages, responses } = await exchange(`${request(id)}\n${cancellation}\n`);
    expect(messages).toMatchObject([{ id }, { params: { requestId: id } }]);
    expect(responses).toEqual([]);
  });

  test('reads messages in pieces, with either line end, and a last one without', async () => {
    const text = Buffer.from(request('1'));
    const { responses } = await exchange(
      text.subarray(0, 70),
      text.subarray(70),
      '\r\n',
      `${request('2')}\n`,
      request('3'),
    );
    expect(responses).toEqual([response('1'), response('2'), response('3')]);
  });

  test('rejects a request for notifications, under its id, as any method that there is not', async () => {
    const id = '9007199254740993';
    const subscription = `{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":{}}`;
    const { messages, responses } = await exchange(`${subscription}\n${request('1')}\n`);
    expect(messages).toHaveLength(1);
    expect(responses).toEqual([
      `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`,
      response('1'),
    ]);
  });

  test.each([
    ['no JSON', 'nonsense'],
    ['bytes that are not UTF-8', Buffer.from(request('1'), 'latin1')],
    ['a batch', `[${request('1')}]`],
    ['another version', request('1').replace('2.0', '1.0')],
  ])('reports %s, and reads the next message', async (_, line) => {
    const { responses, errors } = await exchange(line, '\n', request('2'));
    expect(responses).toEqual([response('2')]);
    expect(errors).toHaveLength(1);
  });
});
