import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLines } from '@animal-store/app-kit';
import {
  INVALID_REQUEST,
  isJSONRPCRequest,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { MESSAGES } from './messages.ts';

/** How long a message may be, in bytes: as long as in the SDK's own transport. */
const MAX_BYTES = 10 * 1024 * 1024;

/** How long requests may take after the last message, in milliseconds: a call of the storage ends within 5 seconds. */
const END_TIMEOUT = 5_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Messages of MCP as lines. The SDK's own transport drops the responses to requests in flight when the input ends, and
 * malformed messages without a word.
 *
 * @param input Destroyed to end it.
 * @param onEnd Called once the input has ended, and each request that was read has its response, or had 5 seconds for it:
 * with the ids of requests that have none.
 */
export function createStdioTransport(
  input: Readable,
  output: Writable,
  onEnd: (unanswered: Iterable<unknown>) => void,
): Transport {
  const unanswered = new Set<unknown>();
  const write = (message: object) => void output.write(`${JSON.stringify(message)}\n`);
  const reject = (code: number, message: string, id: unknown = null) =>
    write({ jsonrpc: '2.0', id, error: { code, message } });

  function receive(bytes: Buffer): void {
    let value: { id?: unknown; method?: unknown; params?: unknown };
    try {
      if (bytes.length > MAX_BYTES) throw new RangeError();
      const text = UTF8.decode(bytes);
      if (text.trim() === '') return;
      value = Object(JSON.parse(text));
    } catch {
      return void reject(PARSE_ERROR, MESSAGES.notJson);
    }
    const { id, method, params } = value;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      const isRequest = typeof method === 'string' && (typeof id === 'string' || typeof id === 'number');
      return void reject(INVALID_REQUEST, MESSAGES.noMessage, isRequest ? id : null);
    }
    // A subscription has its response when the connection closes, a cancelled request has none.
    if (isJSONRPCRequest(message) && method !== 'subscriptions/listen') unanswered.add(id);
    if (method === 'notifications/cancelled') unanswered.delete(Object(params).requestId);
    transport.onmessage?.(message);
  }

  async function run(): Promise<void> {
    try {
      for await (const bytes of readLines(input, MAX_BYTES)) receive(bytes);
    } catch {
      // The input was destroyed.
    }
    for (const end = performance.now() + END_TIMEOUT; unanswered.size > 0 && performance.now() < end; ) await sleep(10);
    onEnd(unanswered);
  }

  // The client is gone.
  output.on('error', () => input.destroy());
  const transport: Transport = {
    start: async () => void run(),
    async send(message) {
      write(message);
      if (!('method' in message)) unanswered.delete(message.id);
    },
    close: async () => transport.onclose?.(),
  };
  return transport;
}
