import { parseArgs } from 'node:util';
import { storageVariables } from '@animal-store/app-kit';
import { type ApiKey, type Keyring, LIMITS, PET_STATUSES } from '@animal-store/domain';
import { type AwaitableCatalogue, quote, Violation } from '@animal-store/domain/transport';

/** What the commands work with. */
export interface CommandDependencies {
  readonly catalogue: AwaitableCatalogue;
  readonly keyring: Keyring;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Takes one line of output. */
  readonly print: (value: unknown) => void;
}

/** A command line that can't be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** How the command is used, or all of them where it is none. */
  readonly usage: string;

  constructor(message: string, usage: string) {
    super(message);
    this.usage = usage;
  }
}

/** Whose idempotency keys those of the command line are: no holder of an API key has a name with an outer space. */
const HOLDER = ' command line ';

const DAY = 24 * 60 * 60 * 1000;
const DAYS_MAX = 36_500;

interface Command {
  /** What stands behind the command's name. */
  readonly synopsis: string;
  readonly options: Readonly<Record<string, 'string' | 'boolean'>>;
  /** @param words What was given: an id where the synopsis has one, and options by name. */
  run(words: Words, dependencies: CommandDependencies): Promise<void>;
}

interface Words {
  readonly id: string;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'pets list': {
    synopsis: `[--status ${PET_STATUSES.join('|')}] [--limit ${LIMITS.page.min}-${LIMITS.page.max}] [--all] [--after ID]`,
    options: { status: 'string', limit: 'string', after: 'string', all: 'boolean' },
    async run({ options }, { catalogue, print }) {
      const query = { status: options['status'], limit: decimal(options['limit']) };
      for (let after = integer(options['after']); ; ) {
        const { pets, next } = await catalogue.listPets({ ...query, after });
        for (const pet of pets) print(pet);
        if (next === null || options['all'] !== true) return;
        after = next;
      }
    },
  },

  'pets add': {
    synopsis: '--name NAME --category ID [--status STATUS] [--idempotency-key KEY]',
    options: { name: 'string', category: 'string', status: 'string', 'idempotency-key': 'string' },
    async run({ options: { name, category, status, 'idempotency-key': key } }, { catalogue, print }) {
      const newPet = { name, categoryId: integer(category), status };
      print(await catalogue.createPet(newPet, typeof key === 'string' ? { holder: HOLDER, key } : undefined));
    },
  },

  'pets get': {
    synopsis: 'ID',
    options: {},
    async run({ id }, { catalogue, print }) {
      const petId = integer(id);
      if (typeof petId !== 'bigint') {
        throw new UsageError(`the id of an animal is an integer, was ${quote(id)}`, usageOf('pets get'));
      }
      print(await catalogue.getPet(petId));
    },
  },

  'keys issue': {
    synopsis: '--holder NAME [--expires-in DAYS]',
    options: { holder: 'string', 'expires-in': 'string' },
    async run({ options: { holder, 'expires-in': given } }, { keyring, clock, print }) {
      const request = { holder, expiresAt: expiryAfter(decimal(given), clock()) };
      // The keyring rejects what is no holder, or no time, and says why.
      const { key, record } = await keyring.issue(request as Parameters<Keyring['issue']>[0]);
      print({ key, ...shownKey(record) });
    },
  },

  'keys list': {
    synopsis: '',
    options: {},
    async run(_words, { keyring, print }) {
      for (const key of await keyring.list()) print(shownKey(key));
    },
  },

  'keys revoke': {
    synopsis: 'ID',
    options: {},
    async run({ id }, { keyring, print }) {
      print(shownKey(await keyring.revoke(id)));
    },
  },
};

/** How all commands are used. */
export const USAGE: string = `usage: animal-store <command>

${Object.entries(COMMANDS)
  .map(([name, { synopsis }]) => `  ${name} ${synopsis}`.trimEnd())
  .join('\n')}

The output is JSON, one object a line. STORAGE, ${storageVariables.map(([, variable]) => variable).join(' or ')} selects the storage.`;

/**
 * Carries out one command.
 *
 * @param words The command line behind the program's name.
 * @throws UsageError for what is no command, DomainError for what the use case refuses.
 */
export async function runCommand(words: readonly string[], dependencies: CommandDependencies): Promise<void> {
  const name = words.slice(0, 2).join(' ');
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    throw new UsageError(name === '' ? 'there is no command' : `there is no command ${quote(name)}`, USAGE);
  }
  await command.run(read(command, words.slice(2), usageOf(name)), dependencies);
}

function usageOf(name: string): string {
  return `usage: animal-store ${name} ${COMMANDS[name]?.synopsis}`.trimEnd();
}

/** @throws UsageError naming what the command can't make use of. */
function read({ synopsis, options }: Command, words: string[], usage: string): Words {
  const dashed = dashedValue(words, options);
  if (dashed !== null) throw new UsageError(dashed, usage);
  const { values, positionals } = parsed(words, options, usage);
  const [id = '', ...rest] = synopsis === 'ID' ? positionals : ['', ...positionals];
  if (rest.length > 0) throw new UsageError(`${quote(rest[0])} is one word too many`, usage);
  if (synopsis === 'ID' && id === '') throw new UsageError('the ID is missing', usage);
  return { id, options: values };
}

function parsed(words: string[], options: Command['options'], usage: string) {
  try {
    return parseArgs({
      args: words,
      options: Object.fromEntries(Object.entries(options).map(([name, type]) => [name, { type }])),
      allowPositionals: true,
    });
  } catch (error) {
    // What Node.js says behind its first sentence is advice for other cases.
    const [sentence = ''] = (error as Error).message.split(/\. |\.?\n/);
    throw new UsageError(sentence, usage);
  }
}

/** Says how to write a negative number: behind a space it looks like an option. */
function dashedValue(words: readonly string[], options: Command['options']): string | null {
  for (const [index, word] of words.entries()) {
    const value = words[index + 1];
    if (word.startsWith('--') && options[word.slice(2)] === 'string' && value !== undefined && /^-\d/.test(value)) {
      return `a value that begins with a dash is written with an equals sign: ${word}=${value}`;
    }
  }
  return null;
}

/** The integer that a text is in decimal digits; what is none stays as it is, for the domain to refuse and quote. */
function integer(given: string | boolean | undefined) {
  return typeof given === 'string' && /^-?\d{1,19}$/.test(given) ? BigInt(given) : given;
}

/** The same for small numbers. */
function decimal(given: string | boolean | undefined) {
  return typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : given;
}

/** The time that many days from now; null if none were given. */
function expiryAfter(days: unknown, now: number): number | null | Violation {
  if (days === undefined) return null;
  if (typeof days === 'number' && days >= 1 && days <= DAYS_MAX) return now + days * DAY;
  const given = typeof days === 'number' ? days : quote(days);
  return new Violation(`expires-in must be a number of days from 1 to ${DAYS_MAX}, was ${given}`);
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
