#!/usr/bin/env node
import { DomainError } from '@animal-store/domain';
import { stringify } from '@animal-store/exact-json';
import { runCommand, USAGE, UsageError } from './commands.ts';
import { type Application, compose } from './composition.ts';

/** The use case refused, or the storage is out of reach. */
const EXIT_REFUSED = 1;

/** The command line or the environment is at fault. */
const EXIT_MISUSED = 2;

/** A mistake in the environment, in one line without credentials. */
class EnvironmentError extends Error {}

async function main(words: readonly string[]): Promise<void> {
  if (words.length === 0 || words[0] === 'help' || words.includes('--help')) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const application = composed(process.env);
  const { catalogue, keyring, storage } = application;
  try {
    const print = (value: unknown) => process.stdout.write(`${stringify(value)}\n`);
    await runCommand(words, { catalogue, keyring, clock: Date.now, print });
  } catch (error) {
    throw explained(error, application);
  } finally {
    await storage.close();
  }
}

function composed({ MONGODB_URL: mongodbUrl, SQLITE_FILE: sqliteFile }: NodeJS.ProcessEnv): Application {
  if (mongodbUrl && sqliteFile) {
    throw new EnvironmentError('MONGODB_URL and SQLITE_FILE are both set: set only one, the database that is meant');
  }
  if (!mongodbUrl && !sqliteFile) {
    throw new EnvironmentError(
      'neither MONGODB_URL nor SQLITE_FILE is set: set one of them, in memory nothing would outlive a command',
    );
  }
  try {
    return compose(mongodbUrl ? { mongodbUrl } : { sqliteFile: sqliteFile as string });
  } catch (error) {
    throw new EnvironmentError((error as Error).message);
  }
}

/** Who runs the command also looks after the storage: where it fails, its own words are of use. */
function explained(error: unknown, { misconfiguration, storage }: Application): unknown {
  const mistake = misconfiguration(error);
  if (mistake !== null) return new EnvironmentError(mistake);
  if (!(DomainError.is(error) && error.cause instanceof Error)) return error;
  const message = `the storage at ${storage.location} is out of reach or too slow: ${error.cause.message}`;
  return new DomainError(error.code, message);
}

// Who reads may have enough, like `head`: no fault of the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await main(process.argv.slice(2));
} catch (error) {
  const known = error instanceof UsageError || error instanceof EnvironmentError || DomainError.is(error);
  if (!known) throw error;
  const usage = error instanceof UsageError ? `${error.usage}\n` : '';
  process.stderr.write(`animal-store: ${error.message}\n${usage}`);
  process.exitCode = DomainError.is(error) ? EXIT_REFUSED : EXIT_MISUSED;
}
