import type { Storage } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import { HttpError, STARTING, STOPPING } from '../app/errors.ts';
import type { Log } from './log.ts';

/** A service is ready from the line `listening` until it stops. */
export type Phase = 'starting' | 'serving' | 'stopping';

/** The state of a storage, in the log. */
export interface StorageCheck {
  /** Why it was unavailable when it was last checked, without numbers, which vary; null: it was available. */
  readonly outage: string | null;
  /**
   * Resolves if the storage can be read and written now. Calls at the same time share one check.
   *
   * @returns What the operator must do about API keys, as no request can have a valid one; null from the first that is valid on.
   * @throws DomainError `storage_unavailable`
   */
  check(): Promise<string | null>;
  /** Checks, because the outcome of a call differs from the state; at most once a second. */
  recheck(): void;
}

const UNAVAILABLE = 'the storage is unavailable: requests that need it are rejected with 503';

/** The time between two checks because of calls, in milliseconds. */
const PAUSE = 1_000;

/**
 * Makes the check that readiness probes, the metrics and calls of the storage share. It logs each change, an outage again if its
 * reason changes, and names the storage by its location.
 *
 * @param findMissingKeys Asked whenever the storage is available, until it returns null.
 */
export function createStorageCheck(
  storage: Pick<Storage, 'location' | 'ready'>,
  log: Pick<Log, 'info' | 'warn'>,
  findMissingKeys: () => Promise<string | null>,
): StorageCheck {
  const at = storage.location;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let current: Promise<string | null> | undefined;
  /** undefined: the storage was not available yet. */
  let missingKeys: string | null | undefined;

  async function run(): Promise<string | null> {
    checkedAt = performance.now();
    try {
      await storage.ready();
      const missing = missingKeys === null ? null : await findMissingKeys();
      if (state.outage !== null) log.info({ at }, 'the storage is available');
      state.outage = null;
      if (missing !== null && missing !== missingKeys) log.warn({ at }, missing);
      missingKeys = missing;
      return missing;
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

/**
 * Makes the check of `/readyz`. No service is ready that may still end because of what its start finds.
 *
 * @throws HttpError, DomainError
 */
export function createReadiness(storageCheck: Pick<StorageCheck, 'check'>, phase: () => Phase): () => Promise<void> {
  return async () => {
    const missing = await storageCheck.check();
    if (missing !== null) throw new HttpError('service_unavailable', missing);
    // Asked last: a stop may begin meanwhile.
    if (phase() === 'starting') throw STARTING;
    if (phase() === 'stopping') throw STOPPING;
  };
}
