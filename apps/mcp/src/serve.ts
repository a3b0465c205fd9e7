import { ConfigurationError, loadStorage, readStorageSettings, throwIfAny } from '@animal-store/app-kit';
import type { StopSignals } from '@animal-store/app-kit/stop-signals';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { compose } from './composition.ts';

/** Serves MCP on standard input and output, on the storage that the environment names, until the input ends or a signal. */
export async function serve(onStop: StopSignals['onStop']): Promise<void> {
  try {
    const errors: string[] = [];
    const settings = readStorageSettings(process.env, 'allowed', errors);
    throwIfAny(errors);
    const storage = (await loadStorage(settings)).open();
    const connection = serveStdio(compose(storage));
    const stop = async () => {
      await connection.close();
      await storage.close();
    };
    onStop(stop);
    process.stdin.once('end', stop);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`animal-store-mcp: ${error.message}\n`);
    process.exitCode = 2;
  }
}
