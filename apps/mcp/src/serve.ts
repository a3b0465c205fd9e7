import { finished } from 'node:stream';
import { createErrorReport, openNamedStorage } from '@animal-store/app-kit';
import type { Run } from '@animal-store/app-kit/run-application';
import { createCatalogue } from '@animal-store/domain';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './server.ts';

/** Serves MCP on standard input and output, on the storage that the environment names, until the input ends or a signal. */
export async function serve({ onStop, writeMessage }: Run): Promise<void> {
  const { storage, description, warnings } = await openNamedStorage(process.env, 'allowed');
  for (const warning of warnings) writeMessage(warning);
  const catalogue = createCatalogue(storage.pets);
  const reportError = createErrorReport(writeMessage);
  const connection = serveStdio(() => createServer({ catalogue, description, reportError }));
  onStop(() => process.stdin.destroy());
  finished(process.stdin, async () => {
    await connection.close();
    await storage.close();
  });
}
