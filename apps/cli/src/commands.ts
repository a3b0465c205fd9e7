import { parseArgs } from 'node:util';
import {
  type ApiKey,
  type Catalogue,
  DomainError,
  type Keyring,
  type PetStatus,
  parseNewPet,
} from '@animal-store/domain';

/** What the commands work with. */
export interface CommandDependencies {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Takes one line of output. */
  readonly print: (value: unknown) => void;
}

/** A command line that can't be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Whose idempotency keys those of the command line are: no holder of an API key has a name with an outer space. */
const HOLDER = ' command line ';

const DAY = 24 * 60 * 60 * 1000;
const INTEGER = /^-?\d{1,19}$/;

export const USAGE = `usage: animal-store <command>

  pets list [--status available|pending|sold] [--limit 1-100] [--all] [--after ID]
  pets add --name NAME --category ID [--status STATUS] [--idempotency-key KEY]
  pets get ID
  keys issue --holder NAME [--expires-in DAYS]
  keys list
  keys revoke ID

Answers are JSON, one object a line. MONGODB_URL or SQLITE_FILE names the database.`;

/**
 * Carries out one command.
 *
 * @param words The command line behind the program's name.
 * @throws UsageError for what is no command, DomainError for what the use case refuses.
 */
export async function runCommand(words: readonly string[], dependencies: CommandDependencies): Promise<void> {
  const [subject, verb, ...rest] = words;
  const command = COMMANDS[`${subject} ${verb}`];
  if (command === undefined) throw new UsageError(USAGE);
  await command(rest, dependencies);
}

type Command = (words: string[], dependencies: CommandDependencies) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  async 'pets list'(words, { catalogue, print }) {
    const { values } = read(words, { status: 'string', limit: 'string', after: 'string', all: 'boolean' }, 0);
    const query = {
      status: values['status'] as PetStatus | undefined,
      limit: values['limit'] === undefined ? undefined : Number(values['limit']),
    };
    for (let after: bigint | null | undefined = integer(values['after'], 'after'); ; ) {
      const { pets, next } = await catalogue.listPets({ ...query, after });
      for (const pet of pets) print(pet);
      if (next === null || values['all'] !== true) return;
      after = next;
    }
  },

  async 'pets add'(words, { catalogue, print }) {
    const { values } = read(
      words,
      { name: 'string', category: 'string', status: 'string', 'idempotency-key': 'string' },
      0,
    );
    const categoryId = integer(values['category'], 'category');
    const newPet = parseNewPet({ name: values['name'], categoryId, status: values['status'] });
    const key = values['idempotency-key'];
    print(await catalogue.createPet(newPet, typeof key === 'string' ? { holder: HOLDER, key } : undefined));
  },

  async 'pets get'(words, { catalogue, print }) {
    const [id] = read(words, {}, 1).positionals;
    print(await catalogue.getPet(integer(id, 'id') as bigint));
  },

  async 'keys issue'(words, { keyring, clock, print }) {
    const { values } = read(words, { holder: 'string', 'expires-in': 'string' }, 0);
    const days = values['expires-in'];
    const expiresAt = days === undefined ? null : clock() + Number(days) * DAY;
    const { key, record } = await keyring.issue({ holder: String(values['holder'] ?? ''), expiresAt });
    print({ key, ...shownKey(record) });
  },

  async 'keys list'(words, { keyring, print }) {
    read(words, {}, 0);
    for (const key of await keyring.list()) print(shownKey(key));
  },

  async 'keys revoke'(words, { keyring, print }) {
    const [id] = read(words, {}, 1).positionals;
    const key = await keyring.revoke(id as string);
    if (key === null) throw new DomainError('invalid_request', `no API key has the id ${id}`);
    print(shownKey(key));
  },
};

function read(words: string[], options: Record<string, 'string' | 'boolean'>, operands: number) {
  try {
    const parsed = parseArgs({
      args: words,
      options: Object.fromEntries(Object.entries(options).map(([name, type]) => [name, { type }])),
      allowPositionals: true,
    });
    if (parsed.positionals.length === operands) return parsed;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
  throw new UsageError(USAGE);
}

/** @throws UsageError where something was given that is no decimal integer. */
function integer(given: string | boolean | undefined, name: string): bigint | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'string' || !INTEGER.test(given)) throw new UsageError(`${name} must be an integer`);
  return BigInt(given);
}

/** All that an administrator needs; the digest is nobody's business. */
function shownKey({ id, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey) {
  const moment = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());
  return {
    id,
    visiblePrefix,
    holder,
    createdAt: moment(createdAt),
    expiresAt: moment(expiresAt),
    revokedAt: moment(revokedAt),
    lastUsedAt: moment(lastUsedAt),
  };
}
