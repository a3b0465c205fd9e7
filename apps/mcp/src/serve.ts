import { finished } from 'node:stream';
import { inspect } from 'node:util';
import { openStorage, readNamedStorage } from '@animal-store/app-kit';
import type { Run } from '@animal-store/app-kit/run-application';
import { createCatalogue, DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './server.ts';

/** Serves MCP on standard input and output, on the storage that the environment names, until the input ends or a signal. */
export async function serve({ onStop, writeMessage }: Run): Promise<void> {
  const { storage, description, warnings } = await openStorage(await readNamedStorage(process.env));
  for (const warning of warnings) writeMessage(warning);
  const catalogue = createCatalogue(storage.pets);
  const reportError = (error: unknown) => {
    if (!DomainError.is(error)) writeMessage(`unexpected error: ${inspect(error)}`);
    else if (error.code === 'storage_unavailable') writeMessage(`the storage is unavailable: ${reasonOf(error)}`);
  };
  const connection = serveStdio(() => createServer({ catalogue, description, reportError }));
  onStop(() => process.stdin.destroy());
  finished(process.stdin, async () => {
    await connection.close();
    await storage.close();
  });
}
