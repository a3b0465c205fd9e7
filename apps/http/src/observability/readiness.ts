import type { PetStorage } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import type { Log } from './log.ts';

/** Checks the storage: at the start, and whenever a probe or the metrics ask. Logs each change. */
export interface Readiness {
  /**
   * Resolves if the storage can be read and written now. Calls at the same time share one check.
   *
   * @throws DomainError `storage_unavailable`
   */
  check(): Promise<void>;
  /** The same as a value. */
  isUp(): Promise<boolean>;
}

/** @param location Names the storage in the log, without credentials. */
export function createReadiness(
  { location, ready }: Pick<PetStorage, 'location' | 'ready'>,
  log: Pick<Log, 'info' | 'warn'>,
): Readiness {
  let wasUp: boolean | undefined;
  let current: Promise<void> | undefined;
  async function run(): Promise<void> {
    try {
      await ready();
      if (wasUp === false) log.info({ at: location }, 'the storage is available');
      wasUp = true;
    } catch (error) {
      if (wasUp !== false)
        log.warn(
          { at: location, reason: reasonOf(error) },
          'the storage is unavailable: requests that need it are rejected with 503',
        );
      wasUp = false;
      throw error;
    }
  }
  const check = () => {
    current ??= run().finally(() => {
      current = undefined;
    });
    return current;
  };
  return {
    check,
    isUp: () =>
      check().then(
        () => true,
        () => false,
      ),
  };
}
