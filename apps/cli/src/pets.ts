import { allPets, holderOf, LIMITS, type NewPet, PET_STATUSES, type PetQuery } from '@animal-store/domain';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Context } from './context.ts';
import { MESSAGES } from './messages.ts';
import { print, printAll } from './print.ts';
import { withStorage } from './storages.ts';

const HOLDER = holderOf('command line');

export function addPets(pets: Command, context: Context): void {
  const { stdout } = context;
  const status = () => new Option('--status <status>', 'availability').choices(PET_STATUSES);

  const { min, max, default: usual } = LIMITS.page;
  const ofList = {
    status: status(),
    limit: new Option('--limit <integer>', `at most so many pets, ${min} to ${max} (default: ${usual})`).argParser(
      count,
    ),
    after: new Option('--after <id>', 'only pets whose id is greater').argParser(integer),
    all: new Option('--all', 'all pets').conflicts('limit'),
  } satisfies Record<keyof PetQuery | 'all', Option>;
  withOptions(pets.command('list'), ofList)
    .description('Lists pets in ascending order of id.')
    .action(({ all, ...query }: PetQuery & { all?: true }) =>
      withStorage(context, async ({ catalogue }) =>
        printAll(stdout, all ? allPets(catalogue, query) : (await catalogue.listPets(query)).pets),
      ),
    );

  pets
    .command('get')
    .description('Prints a pet.')
    .argument('<id>', 'the id of a pet', integer)
    .action((id: bigint) => withStorage(context, async ({ catalogue }) => print(stdout, await catalogue.getPet(id))));

  const ofCreate = {
    name: new Option('--name <name>', `1 to ${LIMITS.name.maxLength} characters`).makeOptionMandatory(),
    categoryId: new Option('--category-id <integer>', 'a 64-bit integer').argParser(integer).makeOptionMandatory(),
    status: status(),
    idempotencyKey: new Option('--idempotency-key <key>', 'the same key again adds no second pet'),
  } satisfies Record<keyof NewPet | 'idempotencyKey', Option>;
  withOptions(pets.command('create'), ofCreate)
    .description('Adds a pet.')
    .action(({ idempotencyKey: key, ...newPet }: NewPet & { idempotencyKey?: string }) =>
      withStorage(
        context,
        async ({ catalogue }) => {
          const { pet } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder: HOLDER, key });
          await print(stdout, pet);
        },
        { create: true },
      ),
    );
}

function withOptions(command: Command, options: Readonly<Record<string, Option>>): Command {
  for (const option of Object.values(options)) command.addOption(option);
  return command;
}

function integer(text: string): bigint {
  if (!/^-?(0|[1-9]\d*)$/.test(text)) throw new InvalidArgumentError(MESSAGES.integer);
  return BigInt(text);
}

function count(text: string): number {
  return Number(integer(text));
}
