#!/usr/bin/env node
import { ConfigurationError, loadStorage, readStorageSettings, throwIfAny } from '@animal-store/app-kit';
import { handleStopSignals } from '@animal-store/app-kit/stop-signals';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { compose } from './composition.ts';

const signals = handleStopSignals();
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
  signals.onStop(stop);
  process.stdin.once('end', stop);
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`animal-store-mcp: ${error.message}\n`);
  process.exitCode = 2;
}
