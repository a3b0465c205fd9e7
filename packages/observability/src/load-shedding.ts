import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event-loop delay is judged, in milliseconds. */
const PERIOD = 100;

/** The resolution of the measurement, in milliseconds. Each measured delay includes it. */
const RESOLUTION = 10;

/**
 * So many operations of each period still run, and one of so many further ones: if other processes cause the delay, shedding
 * does not help, and a few clients that wait for each response rarely send more.
 */
const RUN = { first: 10, oneIn: 10 };

/** Decides which operations are rejected because the service is overloaded. */
export interface LoadShedding {
  /** Whether to reject the next operation. Called once for each. */
  shouldShed(): boolean;
  stop(): void;
}

/**
 * Sheds load by sustained event-loop delay: nine of ten operations after the first ten of 100 ms, once every delay in 200 ms
 * has been over the limit, and none after the first 100 ms with a delay below it. The smallest delay of a period counts, as in
 * CoDel (RFC 8289, section 3): a single long task, such as a garbage collection, leaves a queue that empties by itself; a
 * standing queue does not.
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
  /** How many operations have come in this period while the service was overloaded. */
  let count = 0;
  const judge = setInterval(() => {
    count = 0;
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
      count += 1;
      return count > RUN.first && count % RUN.oneIn !== 0;
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
