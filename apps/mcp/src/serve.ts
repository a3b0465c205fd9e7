import { finished } from 'node:stream';
import { createErrorReport, openNamedStorage } from '@animal-store/app-kit';
import type { Run } from '@animal-store/app-kit/run-application';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { compose } from './composition.ts';
import { delayEnd } from './delayed-end.ts';

/** How long calls in flight may take at the end, in milliseconds: longer than a call of a storage takes. */
const FINISH_LIMIT = 6_000;

/** Serves MCP on standard input and output, on the storage that the environment names, until the input ends or a signal. */
export async function serve({ onStop, writeMessage }: Run): Promise<void> {
  const { storage, description, warnings } = await openNamedStorage(process.env, 'allowed');
  for (const warning of warnings) writeMessage(warning);
  const calls = new Set<Promise<unknown>>();
  const input = delayEnd(calls, FINISH_LIMIT);
  const createServer = compose(storage, { description, calls, reportError: createErrorReport(writeMessage) });
  const connection = serveStdio(createServer, { transport: new StdioServerTransport(input) });
  const stop = () => {
    process.stdin.unpipe(input).pause();
    input.end();
  };
  onStop(stop);
  finished(process.stdin.pipe(input, { end: false }), async () => {
    await connection.close();
    await storage.close();
  });
  finished(process.stdin, stop);
}
