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
  let collected = '';
  let timer: NodeJS.Timeout | null = null;
  const queue: Buffer[] = [];
  let queuedBytes = 0;
  let draining: Promise<void> | null = null;
  let closed = false;
  let abandoned = false;
  let lost = 0;
  let unreported = 0;
  let reason = '';
  /** Whether the last line written is incomplete. */
  let torn = false;

  function lose(lines: Buffer, why: string): void {
    const count = lines.toString('latin1').split('\n').length - 1;
    lost += count;
    unreported += count;
    reason = why;
  }

  /** @returns null if all of it was written, else the part that was not. */
  async function writeAll(text: Buffer): Promise<Buffer | null> {
    let rest = text;
    let pause = 1;
    while (rest.length > 0) {
      try {
        const { bytesWritten } = await (mayBlock ? writeAsync(fd, rest) : { bytesWritten: writeSync(fd, rest) });
        torn = rest[bytesWritten - 1] !== LINE_FEED;
        rest = rest.subarray(bytesWritten);
        pause = 1;
      } catch (error) {
        const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!isFull || abandoned) {
          reason = (error as Error).message;
          return rest;
        }
        await sleep(pause);
        pause = Math.min(pause * 2, RETRY_MAX);
      }
    }
    return null;
  }

  async function reported(): Promise<boolean> {
    const count = unreported;
    const line = (torn ? '\n' : '') + reportLoss(count, reason);
    if ((await writeAll(Buffer.from(line))) !== null) return false;
    unreported -= count;
    return true;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // All at once: if the event loop is delayed, so is each write.
      const chunk = queue.length === 1 ? (queue.pop() as Buffer) : Buffer.concat(queue.splice(0));
      const rest = unreported === 0 || (await reported()) ? await writeAll(chunk) : chunk;
      if (rest !== null) lose(rest, reason);
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
      lose(chunk, 'the reader is too slow');
      return;
    }
    queue.push(chunk);
    queuedBytes += chunk.length;
    draining ??= drain();
  }

  return {
    add(lines) {
      if (closed) return;
      collected += lines;
      if (collected.length >= limits.chunk) flush();
      else timer ??= setTimeout(flush, limits.delay);
    },
    flush,
    lost: () => lost,
    async close() {
      flush();
      closed = true;
      const timeout = setTimeout(() => {
        abandoned = true;
      }, limits.closeTimeout);
      await draining;
      clearTimeout(timeout);
    },
  };
}
