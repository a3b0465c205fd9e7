import { LIMITS, type Pet } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';
import type { Command } from 'commander';
import { asBigInt, asNumber, example, jsonOption, statusOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { type PrintOptions, printRecords } from '../terminal/print.ts';

/** The name comes last: it may be of any width. */
const COLUMNS = ['id', 'categoryId', 'status', 'name'];

interface Options extends PrintOptions {
  readonly status?: string;
  readonly limit?: string;
  readonly after?: string;
  readonly all?: boolean;
}

export function addListPets(pets: Command, { withStorage, stdout }: Context): void {
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
    .action((options: Options) =>
      withStorage(({ catalogue }) => printRecords(stdout, selected(catalogue, options), COLUMNS, options)),
    );
}

async function* selected(catalogue: AwaitableCatalogue, { status, limit, after, all }: Options): AsyncGenerator<Pet> {
  const query = { status, limit: asNumber(limit) };
  for (let last = asBigInt(after); ; ) {
    const { pets, next } = await catalogue.listPets({ ...query, after: last });
    yield* pets;
    if (next === null || all !== true) return;
    last = next;
  }
}
