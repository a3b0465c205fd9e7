import type { TextOutput } from './context.ts';
import { MESSAGES } from './messages.ts';
import { drawProgress } from './print.ts';

/** Draws how many bytes are done. */
export type Progress = (bytes: number) => void;

/** The pause between two drawings, in milliseconds. */
const PAUSE = 100;

/**
 * Draws progress on a terminal: with a bar and the time that is left if the total is known.
 *
 * @param total null if it is not known.
 */
export function createProgress(output: TextOutput, clock: () => number, total: number | null): Progress {
  const begin = clock();
  let last = begin;
  return (bytes) => {
    const now = clock();
    if (now - last < PAUSE && bytes !== total) return;
    last = now;
    const seconds = (now - begin) / 1_000;
    const rate = seconds > 0 ? bytes / seconds : 0;
    drawProgress(output, total === null ? MESSAGES.bytes(bytes, rate) : MESSAGES.bar(bytes, rate, total));
  };
}
