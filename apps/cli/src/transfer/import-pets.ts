import { constants } from 'node:os';
import { checkedNewPet, DomainError } from '@animal-store/domain';
import { type Command, Option } from 'commander';
import { example, jsonOption } from '../arguments.ts';
import { CommandFailed } from '../command-failed.ts';
import type { Context } from '../context.ts';
import { MESSAGES } from '../messages.ts';
import { type PetFormat, UnreadableFile } from '../pet-files/pet-format.ts';
import { formatOption, petFormat } from '../pet-files/pet-formats.ts';
import { readPets } from '../pet-files/read-pets.ts';
import { type PrintOptions, printRecord } from '../terminal/print.ts';
import { writeMessage } from '../terminal/text.ts';
import { asImportId, lineKeys } from './imported-line.ts';
import { InputFile } from './input-file.ts';
import { Tally } from './tally.ts';
import { transferPets } from './transfer-pets.ts';

/** The check ends after this many errors: the file may have another format. */
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
      try {
        const file = await InputFile.open(path, context.stdin);
        try {
          await importFile(file, format, options, context);
        } finally {
          await file.close();
        }
      } catch (error) {
        throw error instanceof UnreadableFile ? new CommandFailed(`${path ?? 'stdin'}: ${error.message}`) : error;
      }
    });
}

async function importFile(file: InputFile, format: PetFormat, options: Options, context: Context): Promise<void> {
  const { onError, importId, json } = options;
  const { withStorage, stdout, stderr } = context;
  const hasImportId = importId !== undefined;
  const signal = stopSignal(context);
  if (onError === 'stop') await checkFile(file, format, signal, stderr);

  const keyOf = await lineKeys(importId, file);
  const maxErrors = onError === 'stop' ? 1 : Number.POSITIVE_INFINITY;
  const tally = new Tally({ file, verb: 'importing', maxErrors, stderr });
  let failure: unknown = null;
  try {
    await withStorage(({ catalogue }) => {
      const accept = (pet: unknown, line: number) => catalogue.createPet(pet, keyOf(line));
      return transferPets(readPets(file.chunks(), format), { accept, tally, signal });
    });
  } catch (error) {
    failure = error;
  } finally {
    tally.end();
  }
  const { imported, alreadyImported, rejected, pets } = tally;
  if (failure === null || pets + rejected > 0) {
    await printRecord(stdout, { imported, alreadyImported, rejected }, { json });
  }
  if (failure !== null) throw withProgress(failure, pets, hasImportId);
  if (rejected > 0) {
    throw new CommandFailed(onError === 'stop' ? MESSAGES.stopped(pets) : MESSAGES.skipped(hasImportId));
  }
  if (pets > 0 && imported === 0) writeMessage(stderr, MESSAGES.repeated);
}

/** @throws CommandFailed if a record has an error, or the signal is aborted meanwhile. */
async function checkFile(
  file: InputFile,
  format: PetFormat,
  signal: AbortSignal,
  stderr: Context['stderr'],
): Promise<void> {
  const accept = (pet: unknown) => {
    checkedNewPet(pet);
    return { created: true };
  };
  const tally = new Tally({ file, verb: 'checking', maxErrors: MAX_ERRORS, stderr });
  try {
    await transferPets(readPets(file.chunks(), format), { accept, tally, signal });
  } catch (error) {
    throw withProgress(error, 0, false);
  } finally {
    tally.end();
  }
  if (tally.isFull) throw new CommandFailed(MESSAGES.checkEnded(MAX_ERRORS));
  if (tally.rejected > 0) throw new CommandFailed(MESSAGES.nothingImported);
}

/** A signal that is aborted, with an error as its reason, when the process is asked to end. */
function stopSignal({ onStop }: Context): AbortSignal {
  const stop = new AbortController();
  // The exit code is that of shells: a loop in a script ends, too.
  onStop((name) => stop.abort(new CommandFailed(MESSAGES.interrupted(name), 128 + constants.signals[name])));
  return stop.signal;
}

/** An expected failure with the number of imported pets and the next step. */
function withProgress(failure: unknown, pets: number, hasImportId: boolean): unknown {
  if (failure instanceof UnreadableFile && pets > 0) {
    return new UnreadableFile(MESSAGES.unreadable(failure.message, pets, hasImportId));
  }
  if (failure instanceof CommandFailed) {
    return new CommandFailed(MESSAGES.failed(failure.message, pets), failure.exitCode);
  }
  return DomainError.is(failure) ? new CommandFailed(MESSAGES.failed(failure.message, pets)) : failure;
}
