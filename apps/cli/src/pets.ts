import { LIMITS, type Pet } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';
import type { Command } from 'commander';
import { asBigInt, asNumber, example, jsonOption, statusOption } from './arguments.ts';
import type { Context } from './context.ts';
import { type PrintOptions, printPages, printRecord } from './terminal/print.ts';
import { addExportPets } from './transfer/export-pets.ts';
import { addImportPets } from './transfer/import-pets.ts';

/** The holder of the idempotency keys of `pets create`. No holder of an API key has a name with an outer space. */
const HOLDER = ' command line ';

/** The name comes last: it may be of any width. */
const COLUMNS = ['id', 'categoryId', 'status', 'name'];

interface ListOptions extends PrintOptions {
  readonly status?: string;
  readonly limit?: string;
  readonly after?: string;
  readonly all?: boolean;
}

type CreateOptions = PrintOptions & {
  readonly [option in 'name' | 'categoryId' | 'status' | 'idempotencyKey']?: string;
};

export function addPets(program: Command, context: Context): void {
  const { withStorage, stdout } = context;
  const pets = program.command('pets').description('The pets of the catalogue.');

  const { min, max, default: usual } = LIMITS.page;
  pets
    .command('list')
    .description('Lists pets in ascending order of id.')
    .addOption(statusOption())
    .option('--limit <integer>', `pets on a page, ${min} to ${max} (default: ${usual})`)
    .option('--after <id>', 'only pets whose id is greater')
    .option('--all', 'all pages')
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store pets list --status available --limit 5'))
    .action((options: ListOptions) =>
      withStorage(({ catalogue }) => printPages(stdout, selectedPages(catalogue, options), COLUMNS, options)),
    );

  pets
    .command('create')
    .description('Adds a pet.')
    .option('--name <name>', `required: 1 to ${LIMITS.name.maxLength} characters`)
    .option('--category-id <integer>', 'required: a 64-bit integer')
    .addOption(statusOption())
    .option('--idempotency-key <key>', 'the same key again adds no second pet')
    .addOption(jsonOption())
    .addHelpText('after', example("animal-store pets create --name 'Rex' --category-id 7 --status available"))
    .action(({ name, categoryId, status, idempotencyKey: key, json }: CreateOptions) =>
      withStorage(async ({ catalogue }) => {
        const newPet = { name, categoryId: asBigInt(categoryId), status };
        const { pet } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder: HOLDER, key });
        await printRecord(stdout, pet, { json });
      }),
    );

  pets
    .command('get')
    .description('Prints a pet.')
    .argument('<id>', 'the id of a pet')
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store pets get 1'))
    .action((id: string, options: PrintOptions) =>
      withStorage(async ({ catalogue }) => printRecord(stdout, await catalogue.getPet(asBigInt(id)), options)),
    );

  addImportPets(pets, context);
  addExportPets(pets, context);
}

async function* selectedPages(
  catalogue: AwaitableCatalogue,
  { status, limit, after, all }: ListOptions,
): AsyncGenerator<readonly Pet[]> {
  const query = { status, limit: asNumber(limit) };
  for (let last = asBigInt(after); ; ) {
    const { pets, next } = await catalogue.listPets({ ...query, after: last });
    yield pets;
    if (next === null || all !== true) return;
    last = next;
  }
}
