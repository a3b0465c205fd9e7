import { Command } from 'commander';
import type { Context } from './context.ts';
import { addKeys } from './keys.ts';
import { MESSAGES } from './messages.ts';
import { addPets } from './pets.ts';
import { printable } from './terminal/text.ts';

/**
 * Runs a command. Throws the error of the use case, or a CommanderError: for a usage error whose message it has written,
 * and with exit code 0 after it has printed help.
 */
export async function runProgram(context: Context, words: readonly string[]): Promise<void> {
  const [first = 'help', ...rest] = words;
  // Commander's own help command does not know the commands of a command.
  await createProgram(context).parseAsync(first === 'help' ? [...rest, '--help'] : words, { from: 'user' });
}

/** The command line as commander's commands. */
export function createProgram(context: Context): Command {
  const { version, storageChoices, stdout, stderr } = context;
  const program = new Command('animal-store')
    .description('The catalogue of animals and its API keys.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) =>
        write(`animal-store: ${text.replace(/^error: /, '').replace(/[^\n]+/g, printable)}`),
    })
    .showHelpAfterError(MESSAGES.usageHint)
    .version(`animal-store ${version}`, '--version', 'print the version')
    .helpCommand('help [command...]', 'Prints the help of a command.')
    .addHelpText(
      'after',
      `\n${storageChoices} selects the storage. Results are tables on a terminal, and JSON lines\nin a pipe or a file.`,
    );

  addPets(program, context);
  addKeys(program, context);
  return program;
}
