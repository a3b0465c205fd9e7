#!/usr/bin/env node
import {
  ConfigurationError,
  loadStorage,
  misconfigurationOf,
  readStorageSettings,
  type StorageSettings,
  throwIfAny,
} from '@animal-store/app-kit';
import { DomainError } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { stringify } from '@animal-store/exact-json';
import { runCommand, USAGE, UsageError } from './commands.ts';
import { compose } from './composition.ts';

/** The use case rejected the command, or the storage is unavailable. */
const EXIT_REJECTED = 1;

/** The command line or the environment is wrong. */
const EXIT_MISUSED = 2;

async function main(words: readonly string[]): Promise<void> {
  if (words.length === 0 || words[0] === 'help' || words.includes('--help')) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const settings = readSettings();
  const storage = (await loadStorage(settings)).open();
  try {
    const print = (value: unknown) => process.stdout.write(`${stringify(value)}\n`);
    await runCommand(words, { ...compose(storage), clock: Date.now, print });
  } catch (error) {
    throw explained(error, settings, storage);
  } finally {
    await storage.close();
  }
}

function readSettings(): StorageSettings {
  const errors: string[] = [];
  const settings = readStorageSettings(process.env, 'never', errors);
  throwIfAny(errors);
  return settings;
}

/** People who run commands administer the storage: its own error message helps them. */
function explained(error: unknown, settings: StorageSettings, { location }: PetStorage): unknown {
  const misconfiguration = misconfigurationOf(error, settings);
  if (misconfiguration !== null) return new ConfigurationError(misconfiguration);
  if (!(DomainError.is(error) && error.cause instanceof Error)) return error;
  return new DomainError(error.code, `the storage at ${location} is unavailable: ${error.cause.message}`);
}

// A reader may have read enough, like `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isKnown = error instanceof UsageError || error instanceof ConfigurationError || DomainError.is(error);
  if (!isKnown) throw error;
  const usage = error instanceof UsageError ? `${error.usage}\n` : '';
  process.stderr.write(`animal-store: ${error.message}\n${usage}`);
  process.exitCode = DomainError.is(error) ? EXIT_REJECTED : EXIT_MISUSED;
}
