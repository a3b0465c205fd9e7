import { fstatSync } from 'node:fs';
import type { Context, TextOutput } from './context.ts';
import { MESSAGES } from './messages.ts';
import { drawProgress } from './print.ts';

/** Draws how much is done. */
export type Progress = (done: number) => void;

/** The pause between two drawings, in milliseconds. */
const PAUSE = 100;

/**
 * Draws progress on a terminal: with a bar and the time that is left while the total is known and not exceeded.
 *
 * @param total null if it is not known. More may be done: a file grows while it is read.
 * @param format Writes an amount with its unit.
 * @param label Stands before the bar.
 */
export function createProgress(
  output: TextOutput,
  clock: () => number,
  total: number | null,
  format: (amount: number) => string = MESSAGES.megabytes,
  label = '',
): Progress {
  const begin = clock();
  let last = begin;
  return (done) => {
    const now = clock();
    if (now - last < PAUSE && done !== total) return;
    last = now;
    const seconds = (now - begin) / 1_000;
    const rate = seconds > 0 ? done / seconds : 0;
    const text = total && done <= total ? MESSAGES.bar(done, rate, total, format) : MESSAGES.amount(done, rate, format);
    drawProgress(output, label + text);
  };
}

/** Passes bytes on, and draws how many there were. */
export async function* withProgress<Chunk extends Uint8Array>(
  content: AsyncIterable<Chunk>,
  { stderr, clock }: Pick<Context, 'stderr' | 'clock'>,
  size: number | null,
): AsyncGenerator<Chunk> {
  const draw = createProgress(stderr, clock, size);
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    draw(bytes);
    yield chunk;
  }
}

/** The size of an open file; null if it is not known: of a pipe, a terminal. */
export function sizeOf({ fd }: { readonly fd?: number | undefined }): number | null {
  const stat = fd === undefined ? null : fstatSync(fd);
  return stat?.isFile() ? stat.size : null;
}
