import { DomainError } from '@animal-store/domain';
import { exactJson } from '@animal-store/exact-json';
import { runCommand, USAGE, UsageError } from './commands.ts';
import { type Application, compose } from './composition.ts';

/** The use case refused, or the storage is out of reach. */
const EXIT_REFUSED = 1;

/** The command line or the environment is at fault. */
const EXIT_MISUSED = 2;

async function main(words: readonly string[]): Promise<void> {
  if (words.length === 0 || words.includes('--help')) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const { catalogue, keyring, storage } = composed(process.env);
  try {
    const print = (value: unknown) => process.stdout.write(`${exactJson(value)}\n`);
    await runCommand(words, { catalogue, keyring, clock: Date.now, print });
  } finally {
    await storage.close();
  }
}

function composed({ MONGODB_URL: mongodbUrl, SQLITE_FILE: sqliteFile }: NodeJS.ProcessEnv): Application {
  if (!mongodbUrl === !sqliteFile) {
    throw new UsageError('either MONGODB_URL or SQLITE_FILE must be set: in memory nothing would outlive a command');
  }
  try {
    return compose(mongodbUrl ? { mongodbUrl } : { sqliteFile: sqliteFile as string });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof DomainError)) throw error;
  process.stderr.write(`animal-store: ${error.message}\n`);
  process.exitCode = error instanceof UsageError ? EXIT_MISUSED : EXIT_REFUSED;
}
