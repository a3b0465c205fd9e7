/** How long the result of a check is valid, in milliseconds. */
const TTL = 1_000;

/** A check whose latest result can be shared. */
export interface Check {
  /** Runs the check. */
  now(): Promise<void>;
  /** The result of the latest check, which may still run, if it has not failed and began less than a second ago; or of a new one. */
  recent(): Promise<void>;
}

export function createCheck(run: () => Promise<void>): Check {
  let latest = { result: Promise.resolve(), begin: -Infinity };

  function now(): Promise<void> {
    const started = { result: run(), begin: performance.now() };
    latest = started;
    started.result.catch(() => {
      started.begin = -Infinity;
    });
    return started.result;
  }

  return { now, recent: () => (performance.now() - latest.begin < TTL ? latest.result : now()) };
}
