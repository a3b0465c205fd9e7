import type { Command } from 'commander';
import { example, jsonOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { type PrintOptions, printRecords } from '../terminal/print.ts';
import { KEY_COLUMNS, printedKey } from './printed-key.ts';

export function addListKeys(keys: Command, { withStorage, stdout }: Context): void {
  keys
    .command('list')
    .description('Lists the issued API keys, without their secrets.')
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store keys list'))
    .action((options: PrintOptions) =>
      withStorage(async ({ keyring }) =>
        printRecords(stdout, (await keyring.list()).map(printedKey), KEY_COLUMNS, options),
      ),
    );
}
