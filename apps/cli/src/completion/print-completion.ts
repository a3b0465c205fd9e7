import { Argument, type Command } from 'commander';
import { example } from '../arguments.ts';
import type { Context } from '../context.ts';
import { writeText } from '../terminal/print.ts';
import { candidates } from './candidates.ts';
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
