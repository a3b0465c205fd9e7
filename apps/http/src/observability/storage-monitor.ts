import type { Storage } from '@animal-store/domain';
import { type Log, reasonOf } from './log.ts';

/** How long until the storage is looked at again, in milliseconds. */
const PAUSE = { whileItFails: 3_000, whileItWorks: 15_000 } as const;

/** How often a mistake that stays is repeated at most, in milliseconds. */
const REPEAT = 60_000;

/** What the check looks at, and whom it tells. */
export interface StorageMonitorOptions {
  readonly storage: Pick<Storage, 'ready'>;
  /** What the log calls it: fields of each line, without secrets. */
  readonly names: object;
  /** The mistake of configuration that an error of the storage shows, in one line; null for one that waiting heals. */
  readonly misconfiguration: (error: unknown) => string | null;
  /** A mistake that only what is stored can tell, in one line, or null; asked until the storage was reached once. */
  readonly mistakeInContents: () => Promise<string | null>;
  /** Told of a mistake that was found before the storage was reached once; the check has ended with it. */
  readonly onMistake: (mistake: string) => void;
  /** Told with each look whether the storage is in reach. */
  readonly onCheck: (inReach: boolean) => void;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** A check that goes on in the background; it does not keep the process alive. */
export interface StorageMonitor {
  /** Ends it: nothing is logged or reported any more. */
  stop(): void;
}

/**
 * Looks at the storage at once and then again and again, and tells those who run the service what is wrong with it. A
 * mistake of configuration is worth ending a process that has never worked: whoever starts it sees why. One that has
 * worked goes on, since the mistake, a password that was changed say, may be undone, and requests that can be answered are.
 */
export function monitorStorage(options: StorageMonitorOptions): StorageMonitor {
  const { storage, names, misconfiguration, mistakeInContents, onMistake, onCheck, log } = options;
  let reached = false;
  let failing = false;
  let lastSaid = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function worked(): void {
    onCheck(true);
    if (failing) log.info('the storage is in reach', names);
    reached = true;
    failing = false;
    lastSaid = Number.NEGATIVE_INFINITY;
  }

  function failed(error: unknown, mistake: string | null): void {
    onCheck(false);
    if (mistake === null) {
      if (!failing) {
        const details = { ...names, reason: reasonOf(error) };
        log.warn('the storage is out of reach: until it is back, requests that need it are answered with 503', details);
      }
    } else if (performance.now() - lastSaid >= REPEAT) {
      lastSaid = performance.now();
      log.error(`requests that need the storage are answered with 503: ${mistake}`, names);
    }
    failing = true;
  }

  async function look(): Promise<void> {
    let fatal: string | null = null;
    try {
      await storage.ready();
      if (!reached) fatal = await mistakeInContents();
      if (stopped) return;
      if (fatal === null) worked();
    } catch (error) {
      if (stopped) return;
      const mistake = misconfiguration(error);
      if (!reached) fatal = mistake;
      if (fatal === null) failed(error, mistake);
    }
    if (fatal !== null) {
      onMistake(fatal);
      return;
    }
    timer = setTimeout(look, failing ? PAUSE.whileItFails : PAUSE.whileItWorks).unref();
  }

  look();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
