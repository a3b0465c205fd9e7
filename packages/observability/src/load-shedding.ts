import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event-loop delay is judged, in milliseconds. */
const PERIOD = 100;

/** The resolution of the measurement, in milliseconds. Each measured delay includes it. */
const RESOLUTION = 10;

/** One operation of so many still runs, because another process may cause the delay, which shedding does not help. */
const ONE_IN = 10;

/** Decides which operations are rejected because the service is overloaded. */
export interface LoadShedding {
  /** Whether to reject the next operation. Called once for each. */
  shouldShed(): boolean;
  stop(): void;
}

/**
 * Sheds load by sustained event-loop delay: nine of ten operations once every delay in 200 ms has been over the limit, none
 * after the first 100 ms with a delay below it. The smallest delay of a period counts, as in CoDel (RFC 8289, section 3): a
 * single long task, such as a garbage collection, leaves a queue that empties by itself; a standing queue does not.
 *
 * @param limit The greatest acceptable delay in milliseconds; 0 disables load shedding.
 * @param monitor Creates the monitor of the delay.
 */
export function createLoadShedding(limit: number, monitor = monitorDelay): LoadShedding {
  if (limit === 0) return { shouldShed: () => false, stop() {} };
  const delay = monitor();
  delay.enable();
  let wasDelayed = false;
  let isOverloaded = false;
  let count = 0;
  const judge = setInterval(() => {
    if (delay.count === 0) return;
    // In nanoseconds.
    const isDelayed = delay.min / 1e6 - RESOLUTION > limit;
    delay.reset();
    isOverloaded = isDelayed && wasDelayed;
    wasDelayed = isDelayed;
  }, PERIOD);
  judge.unref();
  return {
    shouldShed() {
      if (!isOverloaded) return false;
      count = (count + 1) % ONE_IN;
      return count !== 0;
    },
    stop() {
      clearInterval(judge);
      delay.disable();
    },
  };
}

function monitorDelay(): Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'count' | 'min' | 'enable' | 'disable' | 'reset'
> {
  return monitorEventLoopDelay({ resolution: RESOLUTION });
}
