import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the delay is judged, in milliseconds. */
const PERIOD = 100;

/** How exact the delay is measured, in milliseconds; what is measured is that much longer than the delay alone. */
const RESOLUTION = 10;

/** Tells whether the event loop is so late that whoever asks now would wait too long. */
export interface OverloadMonitor {
  isOverloaded(): boolean;
  stop(): void;
}

/**
 * Watches the event loop: work is refused while the mean delay of the last tenth of a second was above the limit. Refusing
 * costs little, so the loop catches up, and what was accepted is answered in time.
 *
 * @param limit In milliseconds; 0 never refuses.
 */
export function monitorOverload(limit: number): OverloadMonitor {
  if (limit === 0) return { isOverloaded: () => false, stop() {} };
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  let overloaded = false;
  const judge = setInterval(() => {
    // Nanoseconds; NaN while there is no measurement.
    overloaded = delay.mean / 1e6 - RESOLUTION > limit;
    delay.reset();
  }, PERIOD);
  judge.unref();
  return {
    isOverloaded: () => overloaded,
    stop() {
      clearInterval(judge);
      delay.disable();
    },
  };
}
