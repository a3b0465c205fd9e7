// Imports nothing: an entry point imports it first, before everything that takes time to load.

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Stops an application. */
export type Stop = (signal: NodeJS.Signals) => void;

/** The signals that ask a process to end. */
export interface StopSignals {
  /**
   * From now on the first signal calls `stop`. The same signal again ends the process at once.
   *
   * Until it is called, a signal ends the process with code 0: there is nothing to finish.
   */
  onStop(stop: Stop): void;
}

/**
 * Handles SIGINT, SIGTERM and SIGHUP from now on: the first process of a container does not get a signal without a
 * handler, and loading an application takes a while.
 */
export function handleStopSignals(): StopSignals {
  let stop: Stop = () => process.exit();
  let stopping = false;
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      if (!stopping) stop(signal);
      stopping = true;
    });
  }
  return {
    onStop(given) {
      stop = given;
    },
  };
}

/** Lets Node deliver the signals that came while modules were loading. */
export function signalsDelivered(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
