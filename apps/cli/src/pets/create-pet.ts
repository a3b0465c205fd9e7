import type { Command } from 'commander';
import { asBigInt, example, jsonOption, statusOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';

/** Whose idempotency keys those of this command are: no holder of an API key has a name with an outer space. */
const HOLDER = ' command line ';

interface Options extends PrintOptions {
  readonly name?: string;
  readonly categoryId?: string;
  readonly status?: string;
  readonly idempotencyKey?: string;
}

export function addCreatePet(pets: Command, { withStorage, stdout }: Context): void {
  pets
    .command('create')
    .description('Creates a pet.')
    .option('--name <name>', 'required: 1 to 200 characters')
    .option('--category-id <integer>', 'required: a 64-bit integer')
    .addOption(statusOption())
    .option('--idempotency-key <key>', 'the same key again creates no second pet')
    .addOption(jsonOption())
    .addHelpText('after', example("animal-store pets create --name 'Rex' --category-id 7 --status available"))
    .action(({ name, categoryId, status, idempotencyKey: key, json }: Options) =>
      withStorage(async ({ catalogue }) => {
        const newPet = { name, categoryId: asBigInt(categoryId), status };
        const { pet } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder: HOLDER, key });
        await printRecord(stdout, pet, { json });
      }),
    );
}
