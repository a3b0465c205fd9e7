import { StorageMisconfigured } from '@animal-store/domain/ports';

/** The error of a database that is not the one that this process has used: it lacks what this one acknowledged. */
export function otherDatabase(): StorageMisconfigured {
  return new StorageMisconfigured('the database is not the one that this process has used: restart the process');
}
