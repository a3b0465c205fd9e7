import { allPets, LIMITS } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';
import type { Command } from 'commander';
import { example } from '../arguments.ts';
import type { Context } from '../context.ts';
import { formatOption, petFormat } from '../pet-files/pet-formats.ts';
import { createProgress } from '../terminal/progress.ts';
import { writeText } from '../terminal/text.ts';

/** How many characters are written at once. */
const CHUNK_LENGTH = 64 * 1024;

/** The first step of the search for the highest id. */
const FIRST_STEP = 1024n;

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

/**
 * An id that no pet exceeds which exists when this is called: the highest one, or that of a pet created meanwhile. It takes
 * at most twice as many queries as the id has binary digits, and eleven for the first 1,024 ids.
 */
export async function highestId(catalogue: AwaitableCatalogue): Promise<bigint> {
  const next = async (after: bigint) => (await catalogue.listPets({ after, limit: LIMITS.page.min })).pets[0]?.id;

  // No pet is above `high`.
  let low = 0n;
  let high = FIRST_STEP;
  for (let step = FIRST_STEP; ; step *= 2n) {
    const found = await next(high);
    if (found === undefined) break;
    low = found;
    high = low + step;
  }
  while (low < high) {
    const middle = (low + high) / 2n;
    const found = await next(middle);
    if (found === undefined) high = middle;
    else low = found;
  }
  return high;
}
