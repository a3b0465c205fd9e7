import { quote } from '@animal-store/domain/transport';
import { type Command, InvalidArgumentError } from 'commander';
import { asBigInt, example, jsonOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';

export function addGetPet(pets: Command, { withStorage, stdout }: Context): void {
  pets
    .command('get')
    .description('Prints a pet.')
    .argument('<id>', 'the id of a pet', petId)
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store pets get 1'))
    .action((id: bigint, options: PrintOptions) =>
      withStorage(async ({ catalogue }) => printRecord(stdout, await catalogue.getPet(id), options)),
    );
}

function petId(text: string): bigint {
  const id = asBigInt(text);
  if (typeof id !== 'bigint') throw new InvalidArgumentError(`The id of a pet is an integer, was ${quote(text)}.`);
  return id;
}
