import {
  ConfigurationError,
  findStorages,
  type OpenStorage,
  openNamedStorage,
  readVersion,
  storageChoices,
  versionText,
} from '@animal-store/app-kit';
import { DomainError } from '@animal-store/domain';
import { CommanderError } from 'commander';
import { CommandFailed, EXIT_FAILED, inWords } from './command-failed.ts';
import { compose } from './composition.ts';
import type { UseCases } from './context.ts';
import { MESSAGES } from './messages.ts';
import { runProgram } from './program.ts';
import { writeMessage } from './terminal/text.ts';

/** The command line or the environment is wrong. */
const EXIT_MISUSED = 2;

async function withStorage<T>(work: (useCases: UseCases) => Promise<T>): Promise<T> {
  const opened = await openNamedStorage(process.env, 'never');
  for (const warning of opened.warnings) writeMessage(process.stderr, warning);
  try {
    return await work(compose(opened.storage));
  } catch (error) {
    throw diagnose(error, opened);
  } finally {
    await opened.storage.close();
  }
}

/** The error message of the storage is for administrators, who run the commands. */
function diagnose(error: unknown, { misconfiguration, storage }: OpenStorage): unknown {
  const message = misconfiguration(error);
  if (message !== null) return new ConfigurationError(message);
  if (!(DomainError.is(error) && error.cause instanceof Error)) return error;
  return new DomainError(error.code, MESSAGES.unavailable(storage.location, error.cause.message));
}

/** Reports an error, and returns the exit code for it. Throws the error if it is unexpected. */
function exitCodeOf(error: unknown): number {
  // Commander has written its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISUSED;
  const isMisuse = error instanceof ConfigurationError;
  if (!(isMisuse || error instanceof CommandFailed || DomainError.is(error))) throw error;
  writeMessage(process.stderr, error.message);
  if (isMisuse) return EXIT_MISUSED;
  return error instanceof CommandFailed ? error.exitCode : EXIT_FAILED;
}

function onStop(stop: (signal: NodeJS.Signals) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
}

/** Runs a command in this process, on the storage that its environment names, and returns the exit code. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  const { stdout, stderr, stdin } = process;
  // If the reader has closed the pipe, like `head`, no message is needed.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') writeMessage(stderr, MESSAGES.output(inWords(error)));
    process.exit(EXIT_FAILED);
  });
  // A command continues without its messages.
  stderr.on('error', () => {});
  const version = versionText(readVersion(process.env));
  try {
    const choices = storageChoices(await findStorages(process.env));
    const context = { version, storageChoices: choices, withStorage, onStop, stdout, stderr, stdin, clock: Date.now };
    await runProgram(context, words);
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}
