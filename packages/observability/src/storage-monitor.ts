import { createThrottle } from '@animal-store/async';
import type { PetStorage } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import type { Log } from './log.ts';

/** The time between two checks, in milliseconds. */
const PAUSE = { unavailable: 3_000, available: 15_000 } as const;

export interface StorageMonitorOptions {
  readonly storage: Pick<PetStorage, 'ready'>;
  /** Fields of each log line that name the storage, without credentials. */
  readonly names: object;
  readonly messages: {
    /** Logged once when the storage becomes unavailable. */
    readonly unavailable: string;
    /** The consequence of a configuration error, which follows it. */
    readonly misconfigured: string;
  };
  /** The configuration error that an error of the storage shows, in one line; null if waiting helps. */
  readonly misconfiguration: (error: unknown) => string | null;
  /** A configuration error in the stored data, in one line, or null. Called until the storage was available once. */
  readonly findMisconfiguration: () => Promise<string | null>;
  /** Called for a configuration error found before the storage was available once. It ends the monitor. */
  readonly onMisconfiguration: (message: string) => void;
  readonly onCheck: (available: boolean) => void;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Checks the storage in the background. It does not keep the process alive. */
export interface StorageMonitor {
  /** After this nothing is logged or called. */
  stop(): void;
}

/**
 * Checks the storage at once and then periodically, and logs problems. A configuration error ends a service that has never
 * worked, so that its operator sees it. A service that has worked continues, because the error, for example a changed
 * password, may be undone, and some of its work needs no storage.
 */
export function monitorStorage(options: StorageMonitorOptions): StorageMonitor {
  const { storage, names, messages, misconfiguration, findMisconfiguration, onMisconfiguration, onCheck, log } =
    options;
  let wasAvailable = false;
  let isFailing = false;
  let throttle = createThrottle();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  /** The reason why the storage is unavailable, and the configuration error that it shows; null if it is available. */
  async function findProblem(): Promise<{ reason: string; misconfigured: string | null } | null> {
    try {
      await storage.ready();
      const misconfigured = wasAvailable ? null : await findMisconfiguration();
      return misconfigured === null ? null : { reason: misconfigured, misconfigured };
    } catch (error) {
      return { reason: reasonOf(error), misconfigured: misconfiguration(error) };
    }
  }

  async function check(): Promise<void> {
    const problem = await findProblem();
    if (stopped) return;
    if (problem === null) {
      if (isFailing) log.info('the storage is available', names);
      wasAvailable = true;
      throttle = createThrottle();
    } else if (problem.misconfigured === null) {
      if (!isFailing) log.warn(messages.unavailable, { ...names, reason: problem.reason });
    } else if (wasAvailable) {
      if (throttle() > 0) log.error(`${messages.misconfigured}: ${problem.misconfigured}`, names);
    } else {
      onMisconfiguration(problem.misconfigured);
      return;
    }
    isFailing = problem !== null;
    onCheck(!isFailing);
    timer = setTimeout(check, isFailing ? PAUSE.unavailable : PAUSE.available).unref();
  }

  // No callback is called before the caller has the monitor, which it may stop.
  void check();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
