import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Output } from './open-standard-output.ts';

/** Sizes in bytes, times in milliseconds. */
export const LINE_WRITER_LIMITS = {
  /** Lines are written once there are so many bytes of them. */
  chunk: 16_000,
  /** Lines wait for others for at most so long. */
  delay: 200,
  /** Lines that a reader has not taken yet; further ones are lost. */
  waiting: 8 * 1024 * 1024,
  /** `close` waits for a reader for at most so long. */
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

/** What could not be written, and why. */
interface WriteFailure {
  readonly rest: Buffer;
  readonly reason: string;
}

/**
 * @param output Writes to it are synchronous if they can't block, because a thread of libuv's pool costs ten times as much.
 * @param reportLoss Makes the line that is written as soon as writing succeeds again. It gets the number of lines lost since the
 * last report, and why the last of them was lost.
 */
export function createLineWriter(
  { fd, mayBlock }: Output,
  reportLoss: (lines: number, reason: string) => string,
  limits: typeof LINE_WRITER_LIMITS = LINE_WRITER_LIMITS,
): LineWriter {
  /** Abandoned: closed, and the reader has not taken the rest in time. */
  let state: 'open' | 'closed' | 'abandoned' = 'open';
  /** Lines that wait for others, until the timer ends. */
  let collected = '';
  let timer: NodeJS.Timeout | null = null;
  /** Lines that wait for the reader. */
  const queue: Buffer[] = [];
  let queuedBytes = 0;
  let draining: Promise<void> | null = null;
  /** In lines. */
  const losses = { total: 0, unreported: 0, reason: '' };
  let endsMidLine = false;

  function countLost({ rest, reason }: WriteFailure): void {
    const lines = rest.toString('latin1').split('\n').length - 1;
    losses.total += lines;
    losses.unreported += lines;
    losses.reason = reason;
  }

  /** Writes all of a text unless an error occurs. While a pipe or terminal is full, it tries again until the writer is abandoned. */
  async function writeAll(text: Buffer): Promise<WriteFailure | null> {
    let rest = text;
    let pause = 1;
    while (rest.length > 0) {
      try {
        const { bytesWritten } = await (mayBlock ? writeAsync(fd, rest) : { bytesWritten: writeSync(fd, rest) });
        endsMidLine = rest[bytesWritten - 1] !== LINE_FEED;
        rest = rest.subarray(bytesWritten);
        pause = 1;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN' || state === 'abandoned') return { rest, reason: message };
        await sleep(pause);
        pause = Math.min(pause * 2, RETRY_MAX);
      }
    }
    return null;
  }

  async function writeLossReport(): Promise<WriteFailure | null> {
    const lines = losses.unreported;
    const failure = await writeAll(Buffer.from((endsMidLine ? '\n' : '') + reportLoss(lines, losses.reason)));
    if (failure === null) losses.unreported -= lines;
    return failure;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // All at once: if the event loop is delayed, so is each write.
      const chunk = queue.length === 1 ? (queue.pop() as Buffer) : Buffer.concat(queue.splice(0));
      const unreported = losses.unreported === 0 ? null : await writeLossReport();
      const failure = unreported === null ? await writeAll(chunk) : { ...unreported, rest: chunk };
      if (failure !== null) countLost(failure);
      queuedBytes -= chunk.length;
    }
    draining = null;
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (collected === '') return;
    const chunk = Buffer.from(collected);
    collected = '';
    if (queuedBytes + chunk.length > limits.waiting) {
      countLost({ rest: chunk, reason: 'the reader is too slow' });
      return;
    }
    queue.push(chunk);
    queuedBytes += chunk.length;
    draining ??= drain();
  }

  return {
    add(lines) {
      if (state !== 'open') return;
      collected += lines;
      if (collected.length >= limits.chunk) flush();
      else timer ??= setTimeout(flush, limits.delay);
    },
    flush,
    lost: () => losses.total,
    async close() {
      flush();
      state = 'closed';
      const timeout = setTimeout(() => {
        state = 'abandoned';
      }, limits.closeTimeout);
      await draining;
      clearTimeout(timeout);
    },
  };
}
