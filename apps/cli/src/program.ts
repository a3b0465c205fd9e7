import { Command } from 'commander';
import type { Context } from './context.ts';
import { addKeys } from './keys.ts';
import { MESSAGES } from './messages.ts';
import { addPets } from './pets.ts';
import { printable } from './terminal/text.ts';

/**
 * The command line as commander's commands.
 *
 * Its `parseAsync` rejects with CommanderError, whose message it has written, for a usage error (and, with exit code 0,
 * after help was printed); with the error of the use case otherwise.
 */
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
    .helpCommand(false)
    .addHelpText(
      'after',
      `\n${storageChoices} selects the storage. Results are tables on a terminal, and JSON lines\nin a pipe or a file.`,
    );

  addPets(program, context);
  addKeys(program, context);
  addHelp(program);
  return program;
}

/** `help pets import` prints the same as `pets import --help`. */
function addHelp(program: Command): void {
  program
    .command('help')
    .description('Prints the help of a command.')
    .argument('[command...]')
    .helpOption(false)
    .action((words: string[]) => {
      const named = (parent: Command, word: string) =>
        parent.commands.find((each) => each.name() === word) ?? parent.error(MESSAGES.unknownCommand(word));
      words.reduce(named, program).help();
    });
}
