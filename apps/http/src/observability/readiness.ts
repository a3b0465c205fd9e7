import type { Storage } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import type { Log } from './log.ts';

/** The state of a storage, in the log. */
export interface StorageCheck {
  /** Why it was unavailable when it was last checked, without numbers, which vary; null: it was available. */
  readonly outage: string | null;
  /**
   * Resolves if the storage can be read and written now. Calls at the same time share one check.
   *
   * @throws DomainError `storage_unavailable`
   */
  check(): Promise<void>;
  /** Checks, because the outcome of a call differs from the state; at most once a second. */
  recheck(): void;
}

const UNAVAILABLE = 'the storage is unavailable: requests that need it are rejected with 503';

/** The time between two checks because of calls, in milliseconds. */
const PAUSE = 1_000;

/**
 * Makes the check that readiness probes, the metrics and calls of the storage share. It logs each change, an outage again if its
 * reason changes, and names the storage by its location.
 */
export function createStorageCheck(
  storage: Pick<Storage, 'location' | 'ready'>,
  log: Pick<Log, 'info' | 'warn'>,
): StorageCheck {
  const at = storage.location;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let current: Promise<void> | undefined;

  async function run(): Promise<void> {
    checkedAt = performance.now();
    try {
      await storage.ready();
      if (state.outage !== null) log.info({ at }, 'the storage is available');
      state.outage = null;
    } catch (error) {
      const reason = reasonOf(error);
      const outage = reason.replaceAll(/\d+/g, '');
      if (state.outage !== outage) log.warn({ at, reason }, UNAVAILABLE);
      state.outage = outage;
      throw error;
    }
  }

  const state = {
    outage: null as string | null,
    check() {
      current ??= run().finally(() => {
        current = undefined;
      });
      return current;
    },
    recheck() {
      if (performance.now() - checkedAt >= PAUSE) state.check().catch(() => {});
    },
  };
  return state;
}
