import { Argument, type Command, type Option } from 'commander';
import { example } from '../arguments.ts';
import type { Context } from '../context.ts';
import { writeText } from '../terminal/text.ts';
import { SCRIPTS } from './scripts.ts';

export function addCompletion(program: Command, { stdout }: Context): void {
  program
    .command('completion')
    .description('Prints a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'where the script is sourced').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', example("echo 'source <(animal-store completion bash)' >> ~/.bashrc"))
    .action((shell: string) => writeText(stdout, SCRIPTS[shell] as string));

  program
    .command('complete', { hidden: true })
    .description('Prints the candidates for the last word, as the scripts of completion need them.')
    .argument('[words...]')
    .action(async (words: string[]) => {
      for (const { value, description } of candidates(program, words)) {
        await writeText(stdout, description === '' ? `${value}\n` : `${value}\t${description}\n`);
      }
    });
}

/** A word that may stand at a place of a command line. */
interface Candidate {
  readonly value: string;
  readonly description: string;
}

/**
 * Completes the last word of a command line: a command, an option, or one of the values that an option has.
 *
 * @param words The words after the program's name. The last one is completed; it may be empty.
 * @returns Nothing where the name of a file or free text may stand.
 */
function candidates(program: Command, words: readonly string[]): Candidate[] {
  const before = words.slice(0, -1);
  // Bash makes an equals sign a word of its own.
  const current = words.at(-1) === '=' ? '' : (words.at(-1) ?? '');
  const { command, option } = position(program, before.concat(words.at(-1) === '=' ? '=' : []));
  return possible(command, option, current, before).filter(({ value }) => value.startsWith(current));
}

/** The command that the words name, and the option whose value follows them. */
function position(program: Command, words: readonly string[]): { command: Command; option: Option | null } {
  let command = program;
  let option: Option | null = null;
  for (const word of words) {
    if (word === '=') continue;
    const isValue = option !== null;
    option = null;
    if (isValue) continue;
    if (word.startsWith('-')) option = command.options.find(({ long, required }) => required && long === word) ?? null;
    // The words after `help` are those of a command.
    else if (word !== 'help') command = command.commands.find((each) => each.name() === word) ?? command;
  }
  return { command, option };
}

function possible(command: Command, option: Option | null, current: string, before: readonly string[]): Candidate[] {
  const help = command.createHelp();
  if (option !== null) return (option.argChoices ?? []).map((value) => ({ value, description: '' }));
  if (current.startsWith('-')) {
    return help
      .visibleOptions(command)
      .map(({ long, description }) => ({ value: long ?? '', description }))
      .filter(({ value }) => !before.includes(value));
  }
  const [argument] = command.registeredArguments;
  if (argument?.argChoices) return argument.argChoices.map((value) => ({ value, description: '' }));
  if (command.commands.length === 0) return [];
  return help.visibleCommands(command).map((each) => ({ value: each.name(), description: each.description() }));
}
