import { type Command, InvalidArgumentError, Option } from 'commander';
import { example, jsonOption } from '../arguments.ts';
import { CommandFailed } from '../command-failed.ts';
import type { Context } from '../context.ts';
import { MESSAGES } from '../messages.ts';
import { type PetFormat, UnreadableFile } from '../pet-files/pet-format.ts';
import { formatOption, petFormat } from '../pet-files/pet-formats.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';
import { printable } from '../terminal/printable.ts';
import { createProgress } from '../terminal/progress.ts';
import { checkAll } from './check-all.ts';
import { createAll } from './create-all.ts';
import { type InputFile, openInputFile } from './input-file.ts';
import { type PetOfFile, readPets } from './read-pets.ts';
import type { TransferEvents } from './transfer-events.ts';

/** Whose idempotency keys those of imports are: no holder of an API key has a name with an outer space. */
const HOLDER = ' import ';

/** After how many errors a check ends: the file may be of another format. */
const MAX_ERRORS = 100;

const IMPORT_ID = /^[\x21-\x7e]{1,100}$/;

interface Options extends PrintOptions {
  readonly format?: string;
  readonly onError: 'stop' | 'skip';
  readonly importId?: string;
}

export function addImportPets(pets: Command, context: Context): void {
  pets
    .command('import')
    .description('Creates the pets of a file. To resume after an interruption, repeat the command.')
    .argument('[file]', 'none or -: the standard input')
    .addOption(formatOption("csv if the file's name ends in .csv, else ndjson"))
    .addOption(
      new Option('--on-error <action>', 'stop: create nothing if a line has an error; skip: leave such lines out')
        .choices(['stop', 'skip'])
        .default('stop'),
    )
    .option(
      '--import-id <id>',
      'creates one pet for each line number under this id (default: from the whole content)',
      asImportId,
    )
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store pets import pets.csv --on-error skip'))
    .action(async (given: string | undefined, options: Options) => {
      const path = given === '-' ? undefined : given;
      const format = petFormat(options.format, path);
      if (path === undefined && context.stdin.isTTY) {
        context.stderr.write(`animal-store: ${MESSAGES.waitingForInput(format.name, format.example)}\n`);
      }
      const file = await openInputFile(path, context.stdin);
      try {
        await importFile(file, format, options, context);
      } finally {
        await file.close();
      }
    });
}

function asImportId(text: string): string {
  if (!IMPORT_ID.test(text)) throw new InvalidArgumentError('It must be 1 to 100 visible ASCII characters.');
  return text;
}

async function importFile(file: InputFile, format: PetFormat, options: Options, context: Context): Promise<void> {
  const { onError, json } = options;
  const transfer = { file, format, ...context };
  if (onError === 'stop') {
    const { rejected } = await transferPets({ ...transfer, verb: 'checking', maxErrors: MAX_ERRORS }, checkAll);
    if (rejected === MAX_ERRORS) throw new CommandFailed(MESSAGES.checkEnded(MAX_ERRORS));
    if (rejected > 0) throw new CommandFailed(MESSAGES.nothingImported);
  }
  const id = options.importId ?? (await file.digest());
  const keyOf = (line: number) => ({ holder: HOLDER, key: `${id}:${String(line).padStart(10, '0')}` });
  const maxErrors = onError === 'stop' ? 1 : Number.POSITIVE_INFINITY;
  const { done: imported, rejected } = await context.withStorage(({ catalogue }) =>
    transferPets({ ...transfer, verb: 'importing', maxErrors }, (pets, events) =>
      createAll(pets, { catalogue, keyOf }, events),
    ),
  );
  await printRecord(context.stdout, { imported, rejected }, { json });
  if (rejected === 0) return;
  if (onError === 'stop') throw new CommandFailed(STOPPED);
  throw new CommandFailed(options.importId === undefined ? SKIPPED : SKIPPED_UNDER_ID);
}

const STOPPED = 'stopped: other lines were imported; to resume, correct the line above and repeat the command';

const SKIPPED =
  'the lines above were not imported: correct them in a file of their own, because a file with another content is another import';

const SKIPPED_UNDER_ID =
  'the lines above were not imported: correct them, and repeat the command with the same --import-id';

interface Transfer extends Pick<Context, 'stderr' | 'clock'> {
  readonly file: InputFile;
  readonly format: PetFormat;
  /** For the line of progress. */
  readonly verb: string;
  readonly maxErrors: number;
}

/** Passes the pets of a file on, shows the progress and reports lines with errors. */
async function transferPets(
  { file, format, verb, maxErrors, stderr, clock }: Transfer,
  passOn: (pets: AsyncIterable<readonly PetOfFile[]>, events: TransferEvents) => Promise<void>,
): Promise<{ readonly done: number; readonly rejected: number }> {
  const progress = createProgress(stderr, { verb, clock });
  let [share, done, rejected] = [0, 0, 0];
  const pets = readPets(file, format, (read) => {
    share = read;
  });
  try {
    await passOn(pets, {
      onDone() {
        done += 1;
        progress.update(share, done);
      },
      onRejected({ line, lastLine }, reason) {
        rejected += 1;
        const lines = line === lastLine ? line : `${line}-${lastLine}`;
        progress.print(printable(`${file.name}:${lines}: ${reason}`));
        return rejected < maxErrors;
      },
    });
    return { done, rejected };
  } catch (error) {
    throw error instanceof UnreadableFile ? new CommandFailed(`${file.name}: ${error.message}`) : error;
  } finally {
    progress.end();
  }
}
