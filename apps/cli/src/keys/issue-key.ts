import type { Keyring } from '@animal-store/domain';
import { quote, Violation } from '@animal-store/domain/transport';
import type { Command } from 'commander';
import { asNumber, example, jsonOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { MESSAGES } from '../messages.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';
import { printedKey } from './printed-key.ts';

const DAY = 24 * 60 * 60 * 1000;
const DAYS_MAX = 36_500;

interface Options extends PrintOptions {
  readonly holder?: string;
  readonly expiresIn?: string;
}

export function addIssueKey(keys: Command, { withStorage, stdout, stderr, clock }: Context): void {
  keys
    .command('issue')
    .description('Issues an API key and prints it. It is never shown again.')
    .option('--holder <name>', 'required: who gets the key')
    .option('--expires-in <days>', `1 to ${DAYS_MAX} (default: it does not expire)`)
    .addOption(jsonOption())
    .addHelpText('after', example("animal-store keys issue --holder 'the zoo' --expires-in 365"))
    .action(({ holder, expiresIn, json }: Options) =>
      withStorage(async ({ keyring }) => {
        const request = { holder, expiresAt: expiryAfter(asNumber(expiresIn), clock()) };
        // The keyring rejects an unsuitable holder or date and says why.
        const { key, record } = await keyring.issue(request as Parameters<Keyring['issue']>[0]);
        stderr.write(`animal-store: ${MESSAGES.keyIssued(record)}\n`);
        await printRecord(stdout, { key, ...printedKey(record) }, { json });
      }),
    );
}

/** The time that many days from now; null if none were given. */
function expiryAfter(days: number | string | undefined, now: number): number | null | Violation {
  if (days === undefined) return null;
  if (typeof days === 'number' && days >= 1 && days <= DAYS_MAX) return now + days * DAY;
  const given = typeof days === 'number' ? days : quote(days);
  return new Violation(`expires-in must be a number of days from 1 to ${DAYS_MAX}, was ${given}`);
}
