import type { Command, Option } from 'commander';

/** What may stand at a place of a command line. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/**
 * Completes the last word of a command line: a command, an option, or one of the values that an option has.
 *
 * @param words The words after the program's name. The last one is completed; it may be empty.
 * @returns Nothing where the name of a file or free text may stand.
 */
export function candidates(program: Command, words: readonly string[]): Candidate[] {
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
