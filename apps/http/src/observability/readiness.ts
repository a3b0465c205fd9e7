import { DomainError } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import type { Log } from './log.ts';

/** The state of a storage, in the log. */
export interface StorageCheck {
  /**
   * Resolves if the storage can be read and written now. Calls at the same time share one check.
   *
   * @throws DomainError `storage_unavailable`
   */
  check(): Promise<void>;
  /** Called with the error of each call of the storage, or null. Checks the storage if its state seems to have changed. */
  onCall(error: unknown): void;
}

const UNAVAILABLE = 'the storage is unavailable: requests that need it are rejected with 503';

/** The time between two checks because of calls, in milliseconds. */
const PAUSE = 1_000;

/**
 * Makes the check that readiness probes, the metrics and calls of the storage share. It logs each change, an outage again if its
 * reason changes, and names the storage by its location.
 */
export function createStorageCheck(
  { location: at, ready }: Pick<PetStorage, 'location' | 'ready'>,
  log: Pick<Log, 'info' | 'warn'>,
): StorageCheck {
  /** Without its numbers, which vary; null: the storage is available. */
  let reason: string | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let current: Promise<void> | undefined;

  async function run(): Promise<void> {
    checkedAt = performance.now();
    try {
      await ready();
      if (reason !== null) log.info({ at }, 'the storage is available');
      reason = null;
    } catch (error) {
      const now = reasonOf(error);
      if (reason !== now.replaceAll(/\d+/g, '')) log.warn({ at, reason: now }, UNAVAILABLE);
      reason = now.replaceAll(/\d+/g, '');
      throw error;
    }
  }

  function check(): Promise<void> {
    current ??= run().finally(() => {
      current = undefined;
    });
    return current;
  }

  return {
    check,
    onCall(error) {
      const isOutage = error !== null && DomainError.is(error) && error.code === 'storage_unavailable';
      const seemsChanged = reason === null ? isOutage : error === null;
      if (seemsChanged && performance.now() - checkedAt >= PAUSE) check().catch(() => {});
    },
  };
}
