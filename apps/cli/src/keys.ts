import type { ApiKey } from '@animal-store/domain';
import { allKeys } from '@animal-store/domain/ports';
import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from './context.ts';
import { isoDate, MESSAGES } from './messages.ts';
import { print, printAll } from './print.ts';
import { withStorage } from './storages.ts';

const DAY = 24 * 60 * 60 * 1000;
const MAX_DAYS = 36_500;

export function addKeys(program: Command, context: Context): void {
  const { stdout, stderr, clock } = context;
  const keys = program.command('keys').description('The API keys of clients of the service.').helpCommand(false);

  keys
    .command('issue')
    .description('Issues an API key and prints it. It is never shown again.')
    .requiredOption('--holder <name>', 'who gets the key')
    .option('--expires-in <days>', `1 to ${MAX_DAYS} (default: it does not expire)`, days)
    .action(({ holder, expiresIn }: { holder: string; expiresIn?: number }) =>
      withStorage(context, async ({ keyring }) => {
        const expiresAt = expiresIn === undefined ? null : clock() + expiresIn * DAY;
        const { key, record } = await keyring.issue({ holder, expiresAt });
        stderr.write(MESSAGES.line(MESSAGES.keyIssued(record)));
        await print(stdout, { key, ...printed(record) });
      }),
    );

  keys
    .command('list')
    .description('Lists the issued API keys, without their secrets, the oldest first.')
    .action(() =>
      withStorage(context, async ({ keys }) => {
        const all: ApiKey[] = [];
        for await (const key of allKeys(keys)) all.push(key);
        all.sort((one, other) => one.createdAt - other.createdAt);
        await printAll(stdout, all.map(printed));
      }),
    );

  keys
    .command('revoke')
    .description('Revokes an API key. Within 5 seconds the service rejects new requests with it.')
    .argument('<id>', 'the id of a key, as keys list shows it')
    .action((id: string) =>
      withStorage(context, async ({ keyring }) => {
        const record = await keyring.revoke(id);
        stderr.write(MESSAGES.line(MESSAGES.keyRevoked(record)));
        await print(stdout, printed(record));
      }),
    );
}

function days(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_DAYS) return Number(text);
  throw new InvalidArgumentError(MESSAGES.days(MAX_DAYS));
}

/** An API key for administrators, without its digest. Dates are in ISO 8601, null if there is none. */
function printed({ id, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey) {
  const iso = (milliseconds: number | null) => (milliseconds === null ? null : isoDate(milliseconds));
  return {
    id,
    visiblePrefix,
    holder,
    createdAt: iso(createdAt),
    expiresAt: iso(expiresAt),
    revokedAt: iso(revokedAt),
    lastUsedAt: iso(lastUsedAt),
  };
}
