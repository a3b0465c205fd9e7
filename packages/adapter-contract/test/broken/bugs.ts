import { type CopiedStorage, openStorage } from './adapter.ts';
import { ARCHIVE_BUGS } from './bugs/archive.ts';
import type { Bugs } from './bugs/bug.ts';
import { IDEMPOTENCY_BUGS } from './bugs/idempotency.ts';
import { KEY_BUGS } from './bugs/keys.ts';
import { LOSS_BUGS } from './bugs/losses.ts';
import { OUTAGE_BUGS } from './bugs/outages.ts';
import { PET_BUGS } from './bugs/pets.ts';
import { SEQUENCE_BUGS } from './bugs/sequences.ts';
import { STORAGE_BUGS } from './bugs/storages.ts';

/** All of them, by name. */
export const BUGS: Bugs = {
  ...PET_BUGS,
  ...IDEMPOTENCY_BUGS,
  ...KEY_BUGS,
  ...ARCHIVE_BUGS,
  ...OUTAGE_BUGS,
  ...LOSS_BUGS,
  ...STORAGE_BUGS,
  ...SEQUENCE_BUGS,
};

/** Opens a copy of the storage at the place of a URL, also in another process. */
export function openCopy({ url, bug }: { readonly url: string; readonly bug: string }): CopiedStorage {
  const { change, ...options } = BUGS[bug] ?? {};
  const storage = openStorage(url, options);
  return { ...storage, ...change?.(storage, url) };
}
