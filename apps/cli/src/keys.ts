import type { ApiKey, Keyring } from '@animal-store/domain';
import { quote, Violation } from '@animal-store/domain/transport';
import type { Command } from 'commander';
import { asNumber, example, jsonOption } from './arguments.ts';
import type { Context } from './context.ts';
import { MESSAGES } from './messages.ts';
import { type PrintOptions, printPages, printRecord } from './terminal/print.ts';
import { writeMessage } from './terminal/text.ts';

const DAY = 24 * 60 * 60 * 1000;
const DAYS_MAX = 36_500;

const KEY_COLUMNS = ['id', 'visiblePrefix', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt', 'holder'];

interface IssueOptions extends PrintOptions {
  readonly holder?: string;
  readonly expiresIn?: string;
}

export function addKeys(program: Command, { withStorage, stdout, stderr, clock }: Context): void {
  const keys = program.command('keys').description('The API keys that clients of the service call with.');

  keys
    .command('issue')
    .description('Issues an API key and prints it. It is never shown again.')
    .option('--holder <name>', 'required: who gets the key')
    .option('--expires-in <days>', `1 to ${DAYS_MAX} (default: it does not expire)`)
    .addOption(jsonOption())
    .addHelpText('after', example("animal-store keys issue --holder 'the zoo' --expires-in 365"))
    .action(({ holder, expiresIn, json }: IssueOptions) =>
      withStorage(async ({ keyring }) => {
        const request = { holder, expiresAt: expiryAfter(asNumber(expiresIn), clock()) };
        // The keyring rejects an unsuitable holder or date and says why.
        const { key, record } = await keyring.issue(request as Parameters<Keyring['issue']>[0]);
        writeMessage(stderr, MESSAGES.keyIssued(record));
        await printRecord(stdout, { key, ...printedKey(record) }, { json });
      }),
    );

  keys
    .command('list')
    .description('Lists the issued API keys, without their secrets.')
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store keys list'))
    .action((options: PrintOptions) =>
      withStorage(async ({ keyring }) => {
        const records = await keyring.list();
        await printPages(stdout, [records.map(printedKey)], KEY_COLUMNS, options);
      }),
    );

  keys
    .command('revoke')
    .description('Revokes an API key. The service rejects it after at most 10 seconds.')
    .argument('<id>', 'the id of a key, as keys list shows it')
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store keys revoke 0123456789abcdef'))
    .action((id: string, options: PrintOptions) =>
      withStorage(async ({ keyring }) => {
        const record = await keyring.revoke(id);
        writeMessage(stderr, MESSAGES.keyRevoked(record));
        await printRecord(stdout, printedKey(record), options);
      }),
    );
}

/** The time after this many days; null if none were given. */
function expiryAfter(days: number | string | undefined, now: number): number | null | Violation {
  if (days === undefined) return null;
  if (typeof days === 'number' && days >= 1 && days <= DAYS_MAX) return now + days * DAY;
  const given = typeof days === 'number' ? days : quote(days);
  return new Violation(MESSAGES.expiresIn(DAYS_MAX, given));
}

/** An API key for administrators, without its digest. Dates are in ISO 8601, null if there is none. */
function printedKey({ id, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey) {
  const date = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());
  return {
    id,
    visiblePrefix,
    holder,
    createdAt: date(createdAt),
    expiresAt: date(expiresAt),
    revokedAt: date(revokedAt),
    lastUsedAt: date(lastUsedAt),
  };
}
