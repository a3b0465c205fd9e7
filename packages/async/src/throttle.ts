/** The time between two reports, in milliseconds. */
const INTERVAL = 60_000;

/** Counts one event. Returns the number of events since the last report if a report is due, otherwise 0. */
export type Throttle = () => number;

/** Limits how often an event is reported: at once, and then once a minute. */
export function createThrottle(): Throttle {
  let reportedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return () => {
    count += 1;
    const now = performance.now();
    if (now - reportedAt < INTERVAL) return 0;
    const due = count;
    reportedAt = now;
    count = 0;
    return due;
  };
}
