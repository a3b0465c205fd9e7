import {
  chooseStorage,
  findAdapters,
  openStorage,
  readSettings,
  readVersion,
  reportError,
  STORAGE_VARIABLES,
  versionText,
} from '@animal-store/app-kit';
import type { Run } from '@animal-store/app-kit/run-application';
import { createCatalogue, holderOf } from '@animal-store/domain';
import { createMcpServer } from '@animal-store/mcp-tools';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createTransport } from './transport.ts';

export const version: string = versionText(readVersion(process.env));

export { STORAGE_VARIABLES as variables };

const HOLDER = holderOf('mcp');

/** How long the storage may take to close, in milliseconds. */
const CLOSE_TIMEOUT = 6_000;

/** Serves MCP on standard input and output, on the storage that the environment names, until the input ends or a signal. */
export async function start({ onStop, writeMessage, endWithin }: Run): Promise<void> {
  const adapters = await findAdapters(process.env);
  const chosen = readSettings((errors) => chooseStorage(process.env, adapters, errors));
  const { storage, description, warnings } = await openStorage(chosen);
  for (const warning of warnings) writeMessage(warning);
  const catalogue = createCatalogue(storage.pets);
  // Messages that are dropped: one line each. The SDK reports an error of the transport to the connection and to the server.
  const reported = new WeakSet<Error>();
  function onerror(error: Error): void {
    if (!reported.has(error)) writeMessage(error.message.replace(/\s+/g, ' ').slice(0, 300));
    reported.add(error);
  }
  const transport = createTransport(process.stdin, process.stdout, async () => {
    process.stdin.destroy();
    endWithin(CLOSE_TIMEOUT);
    await storage.close();
  });
  const makeServer = () => {
    const onCall = (_: string, error: unknown) => error !== undefined && reportError(error, writeMessage);
    const server = createMcpServer({ catalogue, holder: HOLDER, version, storage: description, onCall });
    server.server.onerror = onerror;
    return server;
  };
  serveStdio(makeServer, { transport, onerror });
  onStop(() => process.stdin.destroy());
}
