import type { Command } from 'commander';
import { asBigInt, example, jsonOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';

export function addGetPet(pets: Command, { withStorage, stdout }: Context): void {
  pets
    .command('get')
    .description('Prints a pet.')
    .argument('<id>', 'the id of a pet')
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store pets get 1'))
    .action((id: string, options: PrintOptions) =>
      withStorage(async ({ catalogue }) => printRecord(stdout, await catalogue.getPet(asBigInt(id)), options)),
    );
}
