import { PassThrough } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { withTimeout } from '@animal-store/async';

const LATE = new Error('a call in flight took too long');

/**
 * A stream to read standard input through. The SDK aborts calls in flight when its input ends: this input ends when their
 * responses are written.
 *
 * @param calls The calls in flight. None of them fails.
 * @param limit How long they may take after the end, in milliseconds.
 */
export function delayEnd(calls: ReadonlySet<Promise<unknown>>, limit: number): PassThrough {
  async function finish(): Promise<void> {
    // The SDK begins calls, and writes their responses, some microtasks after it can.
    await nextIteration();
    await withTimeout(Promise.all(calls), limit, LATE).catch(() => {});
    await nextIteration();
  }
  return new PassThrough({ flush: (callback) => void finish().then(() => callback()) });
}
