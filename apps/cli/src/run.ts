import { randomBytes } from 'node:crypto';
import {
  ConfigurationError,
  findStorages,
  openNamedStorage,
  readVersion,
  sha256,
  storageChoices,
  versionText,
} from '@animal-store/app-kit';
import { createCatalogue, createKeyring, DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';
import { CommanderError } from 'commander';
import { CommandFailed, type UseCases } from './context.ts';
import { MESSAGES } from './messages.ts';
import { createProgram } from './program.ts';

const [EXIT_FAILED, EXIT_MISUSED] = [1, 2];

const { stdin, stdout, stderr } = process;

async function withStorage<T>(work: (useCases: UseCases) => Promise<T>): Promise<T> {
  const { storage, warnings, misconfiguration } = await openNamedStorage(process.env, 'never');
  for (const warning of warnings) stderr.write(MESSAGES.line(warning));
  try {
    const keyring = createKeyring({ keys: storage.keys, digest: sha256, randomBytes, clock: Date.now });
    return await work({ catalogue: createCatalogue(storage.pets), keyring });
  } catch (error) {
    const message = misconfiguration(error);
    if (message !== null) throw new ConfigurationError(message);
    if (!DomainError.is(error) || error.code !== 'storage_unavailable') throw error;
    throw new CommandFailed(MESSAGES.unavailable(storage.location, reasonOf(error)));
  } finally {
    await storage.close();
  }
}

/** Reports an error. Throws it if it is unexpected. */
function exitCodeOf(error: unknown): number {
  // Commander has written its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISUSED;
  const isMisuse = error instanceof ConfigurationError || (DomainError.is(error) && error.code === 'invalid');
  const isOfSystem = (error as NodeJS.ErrnoException).errno !== undefined;
  if (!(isMisuse || isOfSystem || DomainError.is(error) || error instanceof CommandFailed)) throw error;
  stderr.write(MESSAGES.line((error as Error).message));
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
  const context = { withStorage, stdin, stdout, stderr, clock: Date.now };
  const choices = storageChoices(await findStorages(process.env));
  await createProgram(context, versionText(readVersion(process.env)), choices).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
