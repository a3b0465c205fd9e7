import { Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLines } from '@animal-store/app-kit';
import { parseMessage, rejectSubscription, restoreId } from '@animal-store/mcp-tools';
import { isJSONRPCRequest, type JSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** How long requests may take after the last message, in milliseconds: a call of the storage ends within 5 seconds. */
const END_TIMEOUT = 5_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The SDK's transport, with ids of any size, and with responses to the requests that were read before the input ended.
 *
 * @param input Destroyed to end it.
 * @param onClose Called when the input has ended, or nobody reads the output.
 */
export function createTransport(input: Readable, output: Writable, onClose: () => void): StdioServerTransport {
  const unanswered = new Set<unknown>();
  // The SDK adds two for each response that waits for the reader. Node would warn of a leak.
  output.setMaxListeners(0);

  async function* messages(): AsyncGenerator<Buffer> {
    try {
      for await (const line of readLines(input, STDIO_DEFAULT_MAX_BUFFER_SIZE)) yield* read(line);
    } catch {
      // The input was destroyed.
    }
    for (const end = performance.now() + END_TIMEOUT; unanswered.size > 0 && performance.now() < end; ) await sleep(10);
  }

  function* read(line: Buffer): Generator<Buffer> {
    try {
      const message = parseMessage(UTF8.decode(line));
      const rejection = rejectSubscription(message);
      if (rejection !== null) return void transport.send(rejection);
      if (isJSONRPCRequest(message)) unanswered.add(message.id);
      // A cancelled request has no response.
      unanswered.delete(Object(Object(message).params).requestId);
      yield Buffer.from(`${JSON.stringify(message)}\n`);
    } catch (error) {
      transport.onerror?.(error as Error);
    }
  }

  class Transport extends StdioServerTransport {
    override async send(message: JSONRPCMessage): Promise<void> {
      if ('method' in message) return super.send(message);
      await super.send(restoreId(message));
      unanswered.delete(message.id);
    }
    override async close(): Promise<void> {
      await super.close();
      unanswered.clear();
      onClose();
    }
  }
  const transport = new Transport(Readable.from(messages()), output);
  return transport;
}
