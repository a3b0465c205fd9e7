import { allPets } from '@animal-store/domain';
import type { Command } from 'commander';
import { example } from '../arguments.ts';
import type { Context } from '../context.ts';
import { formatOption, petFormat } from '../pet-files/pet-formats.ts';
import { writeText } from '../terminal/print.ts';
import { createProgress } from '../terminal/progress.ts';
import { highestId } from './highest-id.ts';

/** How many characters are written at once. */
const CHUNK_LENGTH = 64 * 1024;

interface Options {
  readonly format?: string;
  readonly bom?: boolean;
}

export function addExportPets(pets: Command, { withStorage, stdout, stderr, clock }: Context): void {
  pets
    .command('export')
    .description('Prints all pets that exist when it starts, in ascending order of id.')
    .addOption(formatOption('ndjson'))
    .option('--bom', 'begin with a byte order mark: Excel reads CSV as UTF-8 only then')
    .addHelpText('after', example('animal-store pets export --format csv > pets.csv'))
    .action(({ format: name, bom }: Options) =>
      withStorage(async ({ catalogue }) => {
        const format = petFormat(name);
        const progress = createProgress(stderr, { verb: 'exporting', clock, isShown: stdout.isTTY !== true });
        try {
          let text = `${bom === true ? '\ufeff' : ''}${format.header}`;
          let exported = 0;
          const last = await highestId(catalogue);
          for await (const pet of allPets(catalogue)) {
            if (pet.id > last) break;
            text += format.write(pet);
            exported += 1;
            progress.update(Number(pet.id) / Number(last), exported);
            if (text.length < CHUNK_LENGTH) continue;
            await writeText(stdout, text);
            text = '';
          }
          await writeText(stdout, text);
        } finally {
          progress.end();
        }
      }),
    );
}
