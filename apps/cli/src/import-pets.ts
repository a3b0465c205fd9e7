import { isUtf8 } from 'node:buffer';
import { type FileHandle, open } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { ConfigurationError, readLines, systemReason } from '@animal-store/app-kit';
import { type Catalogue, DomainError, holderOf, type NewPet } from '@animal-store/domain';
import { parse } from '@animal-store/exact-json';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailed, type Context } from './context.ts';
import { interruptible } from './interruptible.ts';
import { MESSAGES, printable } from './messages.ts';
import { drawProgress, print } from './print.ts';
import { sizeOf, withProgress } from './progress.ts';
import { withStorage } from './storages.ts';

const HOLDER = holderOf('import');

/** How many creations are in flight at most: as many as every storage serves at once. */
const MAX_IN_FLIGHT = 1_000;

/** How long a line may be. */
const MAX_LINE_BYTES = 64 * 1024;

export function addImportPets(pets: Command, context: Context): void {
  pets
    .command('import')
    .description('Adds a pet for each line of JSON. To continue after an interruption, repeat the command.')
    .argument('[file]', '-: the standard input', '-')
    .requiredOption('--import-id <name>', 'adds one pet for each line under this name, however often', importId)
    .action((file: string, options: { importId: string }) => importPets(file, options.importId, context));
}

function importId(text: string): string {
  if (!/^[\x21-\x7e]{1,100}$/.test(text)) throw new InvalidArgumentError(MESSAGES.importId);
  return text;
}

async function importPets(file: string, importId: string, context: Context): Promise<void> {
  const { stdin, stdout, stderr } = context;
  await using opened = file === '-' ? null : await openFile(file);
  const [name, input] = opened === null ? ['stdin', stdin] : [file, opened.createReadStream()];
  const size = sizeOf(opened ?? stdin);
  const counts = { imported: 0, alreadyImported: 0, rejected: 0 };

  async function importLine(bytes: Buffer, number: number, catalogue: Catalogue): Promise<void> {
    try {
      const pet = petOf(bytes);
      if (pet === undefined) return;
      const { created } = await catalogue.createPet(pet as NewPet, { holder: HOLDER, key: `${importId}:${number}` });
      counts[created ? 'imported' : 'alreadyImported'] += 1;
    } catch (error) {
      if (!isAboutLine(error)) throw error;
      const isOther = DomainError.is(error) && error.code === 'idempotency_key_reused';
      drawProgress(stderr);
      stderr.write(`${name}:${number}: ${printable(isOther ? MESSAGES.otherPet : error.message)}\n`);
      counts.rejected += 1;
    }
  }

  async function importLines(catalogue: Catalogue, stopping: AbortController): Promise<void> {
    const { signal } = stopping;
    const inFlight: Promise<void>[] = [];
    try {
      let number = 0;
      const lines = readLines(withProgress(addAbortSignal(signal, input), context, size), MAX_LINE_BYTES);
      for await (const bytes of lines) {
        signal.throwIfAborted();
        number += 1;
        inFlight.push(importLine(bytes, number, catalogue).catch((error) => stopping.abort(error)));
        if (inFlight.length < MAX_IN_FLIGHT) continue;
        await Promise.all(inFlight.splice(0));
      }
    } catch (error) {
      stopping.abort(error);
    }
    await Promise.all(inFlight);
    // The first reason stays.
    signal.throwIfAborted();
  }

  await withStorage(
    context,
    ({ catalogue }) =>
      interruptible((stopping) => importLines(catalogue, stopping)).finally(() => {
        drawProgress(stderr);
        return print(stdout, counts);
      }),
    { create: true },
  );
  if (counts.rejected > 0) throw new CommandFailed(MESSAGES.rejected);
}

function openFile(file: string): Promise<FileHandle> {
  return open(file).catch((error: unknown) => {
    throw new ConfigurationError(MESSAGES.unreadableFile('pets import', systemReason(error)));
  });
}

/**
 * The pet of a line, unchecked; undefined if the line is blank.
 *
 * @throws SyntaxError
 */
function petOf(bytes: Buffer): unknown {
  if (bytes.length > MAX_LINE_BYTES) throw new SyntaxError(MESSAGES.tooLong(MAX_LINE_BYTES));
  if (!isUtf8(bytes)) throw new SyntaxError(MESSAGES.notUtf8);
  const text = bytes.toString().replace(/^\ufeff/, '');
  return text.trim() === '' ? undefined : parse(text);
}

function isAboutLine(error: unknown): error is Error {
  if (DomainError.is(error)) return error.code === 'invalid' || error.code === 'idempotency_key_reused';
  return error instanceof SyntaxError;
}
