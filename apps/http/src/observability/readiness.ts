import type { PetStorage } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import type { Log } from './log.ts';

/**
 * Resolves if the storage can be read and written now. Calls at the same time share one check.
 *
 * @throws DomainError `storage_unavailable`
 */
export type CheckStorage = () => Promise<void>;

const UNAVAILABLE = 'the storage is unavailable: requests that need it are rejected with 503';

/** Makes the check that readiness probes and the metrics share. It logs each change, and names the storage by its location. */
export function createStorageCheck(
  { location: at, ready }: Pick<PetStorage, 'location' | 'ready'>,
  log: Pick<Log, 'info' | 'warn'>,
): CheckStorage {
  let wasUp: boolean | undefined;
  let current: Promise<void> | undefined;
  async function run(): Promise<void> {
    try {
      await ready();
      if (wasUp === false) log.info({ at }, 'the storage is available');
      wasUp = true;
    } catch (error) {
      if (wasUp !== false) log.warn({ at, reason: reasonOf(error) }, UNAVAILABLE);
      wasUp = false;
      throw error;
    }
  }
  return () => {
    current ??= run().finally(() => {
      current = undefined;
    });
    return current;
  };
}
