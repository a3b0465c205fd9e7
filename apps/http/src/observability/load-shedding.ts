import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the delay is judged, in milliseconds. */
const PERIOD = 100;

/** How exact the delay is measured, in milliseconds; what is measured is that much longer than the delay alone. */
const RESOLUTION = 10;

/** Of so many operations one is carried out under overload, too: lateness may be somebody else's, which refusing doesn't lessen. */
const ONE_IN = 10;

/** Tells which operations are refused because there is too much to do. */
export interface LoadShedding {
  /** Whether to refuse the operation that comes now; asked once for each. */
  shouldShed(): boolean;
  stop(): void;
}

/**
 * Watches the event loop: operations are refused, but for one in ten, once no turn of it was in time for two tenths of a second,
 * and carried out again after the first tenth with a turn in time. Refusing costs little, so the loop catches up, and what was
 * accepted is answered in time. What counts is the least delay, as in CoDel (RFC 8289, section 3): a single long turn (the first
 * requests after a start, a collection of garbage) empties its queue by itself, a queue that stands does not.
 *
 * @param limit In milliseconds; 0 never refuses.
 */
export function createLoadShedding(limit: number): LoadShedding {
  if (limit === 0) return { shouldShed: () => false, stop() {} };
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  let wasLate = false;
  let isOverloaded = false;
  let refused = 0;
  const judge = setInterval(() => {
    // Without a measurement nothing is known to be late or in time.
    if (delay.count === 0) return;
    // In nanoseconds.
    const isLate = delay.min / 1e6 - RESOLUTION > limit;
    delay.reset();
    isOverloaded = isLate && wasLate;
    wasLate = isLate;
  }, PERIOD);
  judge.unref();
  return {
    shouldShed() {
      if (!isOverloaded) return false;
      refused = (refused + 1) % ONE_IN;
      return refused !== 0;
    },
    stop() {
      clearInterval(judge);
      delay.disable();
    },
  };
}
