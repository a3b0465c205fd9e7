import type { PetStorage } from '@animal-store/domain/ports';
import { createThrottle, reasonOf } from '@animal-store/observability';
import { type Log, REPEAT } from './log.ts';

/** The time between two checks, in milliseconds. */
const PAUSE = { unavailable: 3_000, available: 15_000 } as const;

export interface StorageMonitorOptions {
  readonly storage: Pick<PetStorage, 'ready'>;
  /** Fields of each log line that name the storage, without credentials. */
  readonly names: object;
  /** The configuration error that an error of the storage shows, in one line; null if waiting helps. */
  readonly misconfiguration: (error: unknown) => string | null;
  /** A configuration error that shows in what is stored, in one line, or null. Called until the storage was available once. */
  readonly findMisconfiguration: () => Promise<string | null>;
  /** Called for a configuration error found before the storage was available once. It ends the monitor. */
  readonly onMisconfiguration: (message: string) => void;
  /** Called with the result of each check. */
  readonly onCheck: (available: boolean) => void;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Checks the storage in the background. It does not keep the process alive. */
export interface StorageMonitor {
  /** After this nothing is logged or called. */
  stop(): void;
}

/**
 * Checks the storage at once and then periodically, and logs what is wrong with it. A configuration error ends a service that
 * has never worked, so that its operator sees why. A service that has worked continues: the error, a changed password for example,
 * may be undone, and requests that need no storage still get their responses.
 */
export function monitorStorage(options: StorageMonitorOptions): StorageMonitor {
  const { storage, names, misconfiguration, findMisconfiguration, onMisconfiguration, onCheck, log } = options;
  let wasAvailable = false;
  let failing = false;
  let throttle = createThrottle(REPEAT);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function succeed(): void {
    onCheck(true);
    if (failing) log.info('the storage is available', names);
    wasAvailable = true;
    failing = false;
    throttle = createThrottle(REPEAT);
  }

  function fail(error: unknown, message: string | null): void {
    onCheck(false);
    if (message !== null) {
      if (throttle() > 0) log.error(`requests that need the storage are rejected with 503: ${message}`, names);
    } else if (!failing) {
      const details = { ...names, reason: reasonOf(error) };
      log.warn(
        'the storage is unavailable: requests that need it are rejected with 503 until it is available',
        details,
      );
    }
    failing = true;
  }

  async function check(): Promise<void> {
    let fatal: string | null = null;
    try {
      await storage.ready();
      if (!wasAvailable) fatal = await findMisconfiguration();
      if (stopped) return;
      if (fatal === null) succeed();
    } catch (error) {
      if (stopped) return;
      const message = misconfiguration(error);
      if (!wasAvailable) fatal = message;
      if (fatal === null) fail(error, message);
    }
    if (fatal !== null) {
      onMisconfiguration(fatal);
      return;
    }
    timer = setTimeout(check, failing ? PAUSE.unavailable : PAUSE.available).unref();
  }

  check();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
