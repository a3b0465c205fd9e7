import { ConfigurationError, findStorages, readVersion, storageChoices, versionText } from '@animal-store/app-kit';
import { DomainError } from '@animal-store/domain';
import { CommanderError } from 'commander';
import { CommandFailed } from './context.ts';
import { MESSAGES, withoutSecrets } from './messages.ts';
import { createProgram } from './program.ts';
import { withStorage, withTarget } from './storages.ts';

const [EXIT_FAILED, EXIT_MISUSED] = [1, 2];

const { stdin, stdout, stderr } = process;
const words = process.argv.slice(2);

/** Reports an error. Throws it if it is unexpected. */
function exitCodeOf(error: unknown): number {
  // Commander has written its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISUSED;
  const isMisuse = error instanceof ConfigurationError || (DomainError.is(error) && error.code === 'invalid');
  const isOfSystem = (error as NodeJS.ErrnoException).errno !== undefined;
  if (!(isMisuse || isOfSystem || DomainError.is(error) || error instanceof CommandFailed)) throw error;
  stderr.write(MESSAGES.line(withoutSecrets((error as Error).message, words)));
  if (error instanceof CommandFailed) return error.exitCode;
  return isMisuse ? EXIT_MISUSED : EXIT_FAILED;
}

stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe, like `head`, needs no message.
  if (error.code !== 'EPIPE') stderr.write(MESSAGES.line(error.message));
  process.exit(EXIT_FAILED);
});
// A command continues without its messages.
stderr.on('error', () => {});
try {
  const context = { withStorage, withTarget, words, stdin, stdout, stderr, clock: Date.now };
  const choices = storageChoices(await findStorages(process.env));
  await createProgram(context, versionText(readVersion(process.env)), choices).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
