import {
  ConfigurationError,
  findAdapters,
  readVersion,
  systemReason,
  variableNames,
  versionText,
} from '@animal-store/app-kit';
import { DomainError } from '@animal-store/domain';
import { Command, CommanderError } from 'commander';
import { addBackup } from './backup.ts';
import { CommandFailed, type Context } from './context.ts';
import { addCopy } from './copy.ts';
import { addImportPets } from './import-pets.ts';
import { addKeys } from './keys.ts';
import { MESSAGES, withoutArguments } from './messages.ts';
import { addPets } from './pets.ts';

export const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;

/**
 * Runs the command that the words name.
 *
 * @returns The exit code. An unexpected error is thrown, any other is reported.
 */
export async function runProgram(context: Context): Promise<number> {
  try {
    await (await createProgram(context)).parseAsync(context.words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has written its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISUSED;
    const isMisuse = error instanceof ConfigurationError || (DomainError.is(error) && error.code === 'invalid');
    const { errno, syscall, message } = error as NodeJS.ErrnoException;
    if (!(isMisuse || errno !== undefined || DomainError.is(error) || error instanceof CommandFailed)) throw error;
    const reason = errno === undefined ? withoutArguments(message) : systemReason(error);
    // A client of a database has an `errno`, too, and no `syscall`.
    const text = syscall === undefined ? reason : MESSAGES.system(syscall, reason);
    context.stderr.write(MESSAGES.line(text));
    if (error instanceof CommandFailed) return error.exitCode;
    return isMisuse ? EXIT_MISUSED : EXIT_FAILED;
  }
}

async function createProgram(context: Context): Promise<Command> {
  const { environment, stdout, stderr } = context;
  // A command that needs the adapter reports why it can't be loaded.
  const adapters = await findAdapters(environment).catch(() => undefined);
  const program = new Command('animal-store')
    .description('The catalogue of animals and its API keys.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(MESSAGES.line(withoutArguments(text))),
    })
    .showHelpAfterError(MESSAGES.usageHint)
    .version(`animal-store ${versionText(readVersion(environment))}`, '--version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', MESSAGES.environment(variableNames(adapters)));

  const pets = program.command('pets').description('The pets of the catalogue.').helpCommand(false);
  addPets(pets, context);
  addImportPets(pets, context);
  addKeys(program, context);
  addCopy(program, context);
  addBackup(program, context);
  return program;
}
