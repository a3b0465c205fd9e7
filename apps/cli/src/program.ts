import { Command } from 'commander';
import type { Context } from './context.ts';
import { addCopy } from './copy.ts';
import { addImportPets } from './import-pets.ts';
import { addKeys } from './keys.ts';
import { MESSAGES, withoutSecrets } from './messages.ts';
import { addPets } from './pets.ts';

/** The commands. They reject with the error of the use case, or with a CommanderError whose message is already written. */
export function createProgram(context: Context, version: string, storageChoices: string): Command {
  const program = new Command('animal-store')
    .description('The catalogue of animals and its API keys.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: (text, write) =>
        write(`animal-store: ${withoutSecrets(text.replace(/^error: /, ''), context.words)}`),
    })
    .showHelpAfterError(MESSAGES.usageHint)
    .version(`animal-store ${version}`, '--version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', MESSAGES.environment(storageChoices));

  const pets = program.command('pets').description('The pets of the catalogue.').helpCommand(false);
  addPets(pets, context);
  addImportPets(pets, context);
  addKeys(program, context);
  addCopy(program, context);
  return program;
}
