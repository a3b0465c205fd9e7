import { finished } from 'node:stream';
import { ConfigurationError, openStorage } from '@animal-store/app-kit';
import type { StopSignals } from '@animal-store/app-kit/stop-signals';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { compose } from './composition.ts';
import { delayEnd } from './delayed-end.ts';

/** How long calls in flight may take at the end, in milliseconds: longer than a call of a storage takes. */
const FINISH_LIMIT = 6_000;

/** Serves MCP on standard input and output, on the storage that the environment names, until the input ends or a signal. */
export async function serve(onStop: StopSignals['onStop']): Promise<void> {
  try {
    const { storage, warnings } = await openStorage(process.env, 'allowed');
    for (const warning of warnings) process.stderr.write(`animal-store-mcp: ${warning}\n`);
    const calls = new Set<Promise<unknown>>();
    const input = delayEnd(calls, FINISH_LIMIT);
    const connection = serveStdio(compose(storage, calls), { transport: new StdioServerTransport(input) });
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
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`animal-store-mcp: ${error.message}\n`);
    process.exitCode = 2;
  }
}
