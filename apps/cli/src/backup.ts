import { once } from 'node:events';
import { addAbortSignal, type Readable } from 'node:stream';
import { systemReason } from '@animal-store/app-kit';
import { DomainError } from '@animal-store/domain';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailed, type Context } from './context.ts';
import { interruptible } from './interruptible.ts';
import { MESSAGES } from './messages.ts';
import { drawProgress, print } from './print.ts';
import { sizeOf, withProgress } from './progress.ts';
import { placeToCopy } from './storages.ts';

/** Clients may know as many ids that were assigned after the backup. */
const SKIPPED_IDS = 1_000_000n;

export function addBackup(program: Command, context: Context): void {
  program
    .command('backup')
    .description('Writes a copy of the storage to standard output, while the service runs: backup >copy')
    .action(() => runUntilSignal((stopping) => backup(context, stopping)));

  program
    .command('restore')
    .description('Replaces the storage by the copy on standard input, while nothing uses it: restore <copy')
    .option('--skip-ids <integer>', 'ids that may have been assigned after the backup (default: 1000000)', skippedIds)
    .action(({ skipIds = SKIPPED_IDS }: { skipIds?: bigint }) =>
      runUntilSignal((stopping) => restore(context, skipIds, stopping)),
    );
}

function skippedIds(text: string): bigint {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError(MESSAGES.skippedIds);
  return BigInt(text);
}

/** Nothing of a copy may stay behind. */
function runUntilSignal(work: (stopping: AbortController) => Promise<void>): Promise<void> {
  return interruptible(
    (stopping) =>
      work(stopping).catch((error) => {
        // The first reason stays.
        stopping.signal.throwIfAborted();
        throw error;
      }),
    MESSAGES.stopped,
    ['SIGINT', 'SIGTERM', 'SIGHUP'],
  );
}

async function backup(context: Context, { signal }: AbortController): Promise<void> {
  const { stdout, stderr } = context;
  if (stdout.isTTY) throw new CommandFailed(MESSAGES.terminalOutput, 2);
  const place = await placeToCopy(context);
  drawProgress(stderr, MESSAGES.copying);
  try {
    const { size, content } = await place.backup();
    for await (const chunk of withProgress(content, context, size)) {
      signal.throwIfAborted();
      if (!stdout.write(chunk)) await once(stdout, 'drain', { signal });
    }
  } finally {
    drawProgress(stderr);
  }
}

async function restore(context: Context, skipped: bigint, { signal }: AbortController): Promise<void> {
  const { stdin, stdout, stderr } = context;
  if (stdin.isTTY) throw new CommandFailed(MESSAGES.terminalInput, 2);
  const place = await placeToCopy(context);
  if (stdin.fd !== undefined && place.has(stdin.fd)) throw new CommandFailed(MESSAGES.ownInput, 2);
  try {
    const copy = withProgress(readable(addAbortSignal(signal, stdin)), context, sizeOf(stdin));
    const next = await place.restore(copy, skipped);
    drawProgress(stderr);
    await print(stdout, { nextId: next });
  } catch (error) {
    if (DomainError.is(error) && error.code === 'invalid') throw new CommandFailed(error.message);
    throw error;
  } finally {
    drawProgress(stderr);
  }
}

/** Blames the input for its own errors. */
async function* readable(input: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* input;
  } catch (error) {
    throw new CommandFailed(MESSAGES.unreadable(systemReason(error)));
  }
}
