import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Output } from './open-standard-output.ts';

/** Sizes in bytes, times in milliseconds. */
export const LINE_WRITER_LIMITS = {
  /** Lines are written once there are this many bytes. */
  chunk: 16_000,
  /** The longest time that lines wait for others. */
  delay: 200,
  /** Lines that a reader has not taken yet; further ones are lost. */
  waiting: 8 * 1024 * 1024,
  /** The longest time that `close` waits for a reader. */
  closeTimeout: 1_000,
};

/** The longest pause between two attempts to write to a full pipe or terminal, in milliseconds. */
const RETRY_MAX = 100;

const LINE_FEED = 0x0a;

/** Writes lines in the background. No call blocks or throws, whatever happens to the output. */
export interface LineWriter {
  /** @param lines One line or several, each with its line feed. */
  add(lines: string): void;
  /** Writes the lines added so far without waiting for others. */
  flush(): void;
  /** How many lines could not be written since the start. */
  lost(): number;
  /** Writes the remaining lines as far as the reader takes them in time. Lines added from now on are dropped. */
  close(): Promise<void>;
}

const writeAsync = promisify(write);

const countLines = (text: string) => text.split('\n').length - 1;

/**
 * @param output Writes to it are synchronous if they can't block, because a thread of libuv's pool costs ten times as much.
 * @param reportLoss Formats the line that is written once writing succeeds again, from the number of lost lines since the
 * last report and the reason of the last loss.
 */
export function createLineWriter(
  { fd, mayBlock }: Output,
  reportLoss: (lines: number, reason: string) => string,
  limits: typeof LINE_WRITER_LIMITS = LINE_WRITER_LIMITS,
): LineWriter {
  /** Lines that wait for others or for the reader. */
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  /** Whether the lines that wait are to be written now. */
  let isDue = false;
  let writing: Promise<void> | null = null;
  /** How many characters wait or are being written. */
  let size = 0;
  /** When writing to a full pipe ends, on the clock of `performance.now()`. */
  let deadline = Number.POSITIVE_INFINITY;
  const losses = { total: 0, unreported: 0, reason: '' };
  let endsMidLine = false;

  function countLost(count: number, reason: string): void {
    losses.total += count;
    losses.unreported += count;
    losses.reason = reason;
  }

  /** Writes lines, again and again while a pipe or terminal is full. Returns the error that ended it, and what was lost. */
  async function writeAll(lines: string): Promise<{ lost: number; reason: string } | null> {
    let rest = Buffer.from(endsMidLine ? `\n${lines}` : lines);
    let pause = 1;
    while (rest.length > 0) {
      try {
        const { bytesWritten } = await (mayBlock ? writeAsync(fd, rest) : { bytesWritten: writeSync(fd, rest) });
        endsMidLine = rest[bytesWritten - 1] !== LINE_FEED;
        rest = rest.subarray(bytesWritten);
        pause = 1;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN' || performance.now() > deadline) {
          // A line that lacks only its line feed is not lost: the next one that is written comes after a line feed.
          const isEnd = endsMidLine && rest[0] === LINE_FEED;
          return { lost: countLines(String(rest)) - Number(isEnd), reason: message };
        }
        await sleep(pause);
        pause = Math.min(pause * 2, RETRY_MAX);
      }
    }
    return null;
  }

  async function reportLosses(): Promise<string | null> {
    const { unreported, reason } = losses;
    if (unreported === 0) return null;
    const failure = await writeAll(reportLoss(unreported, reason));
    if (failure === null || failure.lost === 0) losses.unreported -= unreported;
    return failure?.reason ?? null;
  }

  async function writeDue(): Promise<void> {
    while (isDue) {
      isDue = false;
      const lines = waiting;
      waiting = '';
      const reason = await reportLosses();
      const failure = reason === null ? await writeAll(lines) : { lost: countLines(lines), reason };
      if (failure !== null) countLost(failure.lost, failure.reason);
      size -= lines.length;
    }
    writing = null;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    isDue = true;
    writing ??= writeDue();
  }

  return {
    add(lines) {
      if (deadline !== Number.POSITIVE_INFINITY) return;
      if (size + lines.length > limits.waiting) {
        countLost(countLines(lines), 'the reader is too slow');
        return;
      }
      waiting += lines;
      size += lines.length;
      if (waiting.length >= limits.chunk) flush();
      else timer ??= setTimeout(flush, limits.delay);
    },
    flush,
    lost: () => losses.total,
    async close() {
      flush();
      deadline = performance.now() + limits.closeTimeout;
      // A write that blocks can't be cancelled.
      await (mayBlock ? Promise.race([writing, sleep(limits.closeTimeout, null, { ref: false })]) : writing);
    },
  };
}
