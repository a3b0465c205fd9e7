import { inspect } from 'node:util';
import { openStorage, readNamedStorage } from '@animal-store/app-kit';
import type { Run } from '@animal-store/app-kit/run-application';
import { createCatalogue, DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './server.ts';
import { createStdioTransport } from './stdio.ts';

/** Serves MCP on standard input and output, on the storage that the environment names, until the input ends or a signal. */
export async function serve({ onStop, writeMessage }: Run): Promise<void> {
  const { storage, description, warnings } = await openStorage(await readNamedStorage(process.env));
  for (const warning of warnings) writeMessage(warning);
  const catalogue = createCatalogue(storage.pets);
  const reportError = (error: unknown) => {
    if (!DomainError.is(error)) writeMessage(`unexpected error: ${inspect(error)}`);
    else if (error.code === 'storage_unavailable') writeMessage(`the storage is unavailable: ${reasonOf(error)}`);
  };
  // What the SDK drops, on one line.
  const onerror = ({ message }: Error) => writeMessage(message.replace(/\s+/g, ' ').slice(0, 300));
  const transport = createStdioTransport(process.stdin, process.stdout, async () => {
    await connection.close();
    await storage.close();
  });
  const makeServer = () => {
    const server = createServer({ catalogue, description, reportError });
    server.server.onerror = onerror;
    return server;
  };
  const connection = serveStdio(makeServer, { transport, onerror });
  onStop(() => process.stdin.destroy());
}
