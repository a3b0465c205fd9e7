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
 * may be undone, and some of its work needs no storage.
 */
export function monitorStorage(options: StorageMonitorOptions): StorageMonitor {
  const { storage, names, messages, misconfiguration, findMisconfiguration, onMisconfiguration, onCheck, log } =
    options;
  let wasAvailable = false;
  let failing = false;
  let throttle = createThrottle();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function succeed(): void {
    onCheck(true);
    if (failing) log.info('the storage is available', names);
    wasAvailable = true;
    failing = false;
    throttle = createThrottle();
  }

  function fail(error: unknown, message: string | null): void {
    onCheck(false);
    if (message !== null) {
      if (throttle() > 0) log.error(`${messages.misconfigured}: ${message}`, names);
    } else if (!failing) {
      log.warn(messages.unavailable, { ...names, reason: reasonOf(error) });
    }
    failing = true;
  }

  async function check(): Promise<void> {
    if (stopped) return;
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

  // Not now: a callback may stop the monitor, which the caller does not have yet.
  queueMicrotask(check);
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
