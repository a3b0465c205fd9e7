import { DomainError } from '@animal-store/domain';
import { type Command, Option } from 'commander';
import { example, jsonOption } from '../arguments.ts';
import { CommandFailed, Interrupted } from '../command-failed.ts';
import type { Context } from '../context.ts';
import { MESSAGES } from '../messages.ts';
import { type PetFormat, UnreadableFile } from '../pet-files/pet-format.ts';
import { formatOption, petFormat } from '../pet-files/pet-formats.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';
import { createProgress } from '../terminal/progress.ts';
import { printable, writeMessage } from '../terminal/text.ts';
import { checkAll } from './check-all.ts';
import { createAll } from './create-all.ts';
import { asImportId, lineKeys } from './imported-line.ts';
import { type InputFile, openInputFile } from './input-file.ts';
import { type PetOfFile, readPets, type TransferEvents } from './read-pets.ts';

/** After how many errors a check ends: the file may be of another format. */
const MAX_ERRORS = 100;

interface Options extends PrintOptions {
  readonly format?: string;
  readonly onError: 'stop' | 'skip';
  readonly importId?: string;
}

export function addImportPets(pets: Command, context: Context): void {
  pets
    .command('import')
    .description('Adds the pets of a file. To continue after an interruption, repeat the command.')
    .argument('[file]', 'none or -: the standard input')
    .addOption(formatOption("csv if the file's name ends in .csv, else ndjson"))
    .addOption(
      new Option('--on-error <action>', 'stop: add nothing if a line has an error; skip: leave such lines out')
        .choices(['stop', 'skip'])
        .default('stop'),
    )
    .option(
      '--import-id <id>',
      'adds one pet for each line number under this id (default: from the whole content)',
      asImportId,
    )
    .addOption(jsonOption())
    .addHelpText('after', example('animal-store pets import pets.csv --on-error skip'))
    .action(async (given: string | undefined, options: Options) => {
      const path = given === '-' ? undefined : given;
      const format = petFormat(options.format, path);
      if (path === undefined && context.stdin.isTTY) {
        writeMessage(context.stderr, MESSAGES.waitingForInput(format.name, format.example));
      }
      const file = await openInputFile(path, context.stdin);
      try {
        await importFile(file, format, options, context);
      } finally {
        await file.close();
      }
    });
}

async function importFile(file: InputFile, format: PetFormat, options: Options, context: Context): Promise<void> {
  const { onError, importId, json } = options;
  const signal = abortOnStop(context);
  const transfer = { file, format, signal, ...context };

  if (onError === 'stop') {
    const checked = noneCounted();
    await transferPets({ ...transfer, verb: 'checking', maxErrors: MAX_ERRORS, counts: checked }, checkAll);
    throwIfInterrupted(signal, 0);
    if (checked.rejected === MAX_ERRORS) throw new CommandFailed(MESSAGES.checkEnded(MAX_ERRORS));
    if (checked.rejected > 0) throw new CommandFailed(MESSAGES.nothingImported);
  }

  const keyOf = await lineKeys(importId, file);
  const counts = noneCounted();
  const maxErrors = onError === 'stop' ? 1 : Number.POSITIVE_INFINITY;
  let failure: unknown = null;
  try {
    await context.withStorage(({ catalogue }) =>
      transferPets({ ...transfer, verb: 'importing', maxErrors, counts }, (pets, events) =>
        createAll(pets, { catalogue, keyOf, signal }, events),
      ),
    );
  } catch (error) {
    failure = error;
  }
  const { imported, alreadyImported, rejected } = counts;
  const pets = imported + alreadyImported;
  if (failure === null || pets + rejected > 0) await printRecord(context.stdout, counts, { json });
  if (failure !== null) throw withProgress(failure, pets, options);
  throwIfInterrupted(signal, pets);
  if (rejected === 0) {
    if (pets > 0 && imported === 0) writeMessage(context.stderr, MESSAGES.repeated);
    return;
  }
  if (onError === 'stop') throw new CommandFailed(MESSAGES.stopped(pets));
  throw new CommandFailed(MESSAGES.skipped(importId !== undefined));
}

/** @returns A signal that is aborted, with the name of the signal as its reason, when the process is asked to end. */
function abortOnStop({ onStop }: Context): AbortSignal {
  const stop = new AbortController();
  onStop((name) => stop.abort(name));
  return stop.signal;
}

function throwIfInterrupted({ aborted, reason }: AbortSignal, pets: number): void {
  if (aborted) throw new Interrupted(reason, MESSAGES.interrupted(reason, pets));
}

/** An expected failure with how many pets are in and how to go on. */
function withProgress(failure: unknown, pets: number, { importId }: Options): unknown {
  if (DomainError.is(failure)) return new CommandFailed(MESSAGES.failed(failure.message, pets));
  if (!(failure instanceof CommandFailed) || pets === 0) return failure;
  return new CommandFailed(MESSAGES.unreadable(failure.message, pets, importId !== undefined));
}

interface Counts {
  /** Pets that did not exist before. */
  imported: number;
  /** Pets that an earlier import of the same lines created. */
  alreadyImported: number;
  /** Records with an error. */
  rejected: number;
}

interface Transfer extends Pick<Context, 'stderr' | 'clock'> {
  readonly file: InputFile;
  readonly format: PetFormat;
  /** Reading ends when it is aborted. */
  readonly signal: AbortSignal;
  /** For the line of progress. */
  readonly verb: string;
  readonly maxErrors: number;
  /** Is counted up, also by a transfer that fails. */
  readonly counts: Counts;
}

/** Lets a function consume the pets of a file, shows the progress and reports lines with errors. */
async function transferPets(
  { file, format, signal, verb, maxErrors, stderr, clock, counts }: Transfer,
  consume: (pets: AsyncIterable<readonly PetOfFile[]>, events: TransferEvents) => Promise<void>,
): Promise<void> {
  const progress = createProgress(stderr, { verb, clock });
  let share = 0;
  const pets = readPets(file, format, {
    signal,
    onRead(read) {
      share = read;
    },
  });
  try {
    await consume(pets, {
      onDone(created) {
        if (created) counts.imported += 1;
        else counts.alreadyImported += 1;
        progress.update(share, counts.imported + counts.alreadyImported);
      },
      onRejected({ line, lastLine }, reason) {
        counts.rejected += 1;
        const lines = line === lastLine ? line : `${line}-${lastLine}`;
        progress.print(printable(`${file.name}:${lines}: ${reason}`));
        return counts.rejected < maxErrors;
      },
    });
  } catch (error) {
    throw error instanceof UnreadableFile ? new CommandFailed(`${file.name}: ${error.message}`) : error;
  } finally {
    progress.end();
  }
}

function noneCounted(): Counts {
  return { imported: 0, alreadyImported: 0, rejected: 0 };
}
