import type { Command } from 'commander';
import { example, jsonOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { MESSAGES } from '../messages.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';
import { printedKey } from './printed-key.ts';

export function addRevokeKey(keys: Command, { withStorage, stdout, stderr }: Context): void {
  keys
    .command('revoke')
    .description('Revokes an API key. The service rejects it after at most 10 seconds.')
    .argument('<id>', 'the id of a key, as keys list shows it')
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store keys revoke 0123456789abcdef'))
    .action((id: string, options: PrintOptions) =>
      withStorage(async ({ keyring }) => {
        const record = await keyring.revoke(id);
        stderr.write(`animal-store: ${MESSAGES.keyRevoked(record)}\n`);
        await printRecord(stdout, printedKey(record), options);
      }),
    );
}
