import { allPets, LIMITS } from '@animal-store/domain';
import type { Command } from 'commander';
import { example } from '../arguments.ts';
import type { Context } from '../context.ts';
import { formatOption, petFormat } from '../pet-files/pet-formats.ts';
import { createProgress, progressText } from '../terminal/progress.ts';
import { writeText } from '../terminal/text.ts';

/** How many characters are written at once. */
const CHUNK_LENGTH = 64 * 1024;

interface Options {
  readonly format?: string;
  readonly bom?: boolean;
}

export function addExportPets(parent: Command, { withStorage, stdout, stderr }: Context): void {
  parent
    .command('export')
    .description('Prints all pets that exist when it starts, in ascending order of id.')
    .addOption(formatOption('ndjson'))
    .option('--bom', 'begin with a byte order mark: Excel reads CSV as UTF-8 only then')
    .addHelpText('after', example('animal-store pets export --format csv > pets.csv'))
    .action(({ format: name, bom }: Options) =>
      withStorage(async ({ catalogue }) => {
        const format = petFormat(name);
        let [share, pets] = [0, 0];
        const progress = createProgress(stderr, () => progressText('exporting', share, pets), !stdout.isTTY);
        try {
          let text = `${bom === true ? '\ufeff' : ''}${format.header}`;
          const last = await highestId(async (after) => (await catalogue.listPets({ after, limit: 1 })).pets[0]?.id);
          for await (const pet of allPets(catalogue)) {
            if (pet.id > last) break;
            text += format.write(pet);
            pets += 1;
            share = Number(pet.id) / Number(last);
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

/**
 * The highest id at the time of the call, or that of a pet created meanwhile. It takes one query for each binary digit of
 * the highest id that a storage can assign.
 */
export async function highestId(firstAfter: (id: bigint) => Promise<bigint | undefined>): Promise<bigint> {
  let low = 0n;
  let high: bigint = LIMITS.id.maxAssigned;
  while (low < high) {
    const middle = (low + high) / 2n;
    const found = await firstAfter(middle);
    if (found === undefined) high = middle;
    else low = found;
  }
  return high;
}
