import type { Awaitable, PetStorage } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';

/**
 * What the contract needs to know of an adapter. A place is where pets are stored: a path, a URL, an object. Several storages
 * may be open at one place, and what is stored there outlives them.
 */
export type StorageUnderTest<Place> = {
  /** Returns a place that is new and empty. Called in a test: remove the place in `onTestFinished`. */
  freshPlace(): Awaitable<Place>;

  /** Opens a storage at a place. The contract closes it. */
  open(place: Place): Awaitable<PetStorage>;
} & (Interruptible<Place> | { interrupt?: never; restore?: never });

/** Of a storage that can fail while the process runs: a server, a network, a file that others lock. */
export interface Interruptible<Place> {
  /** Makes a place unavailable, at least for writing, to the storages that are open there and to new ones. */
  interrupt(place: Place): Awaitable<void>;

  /** Makes it available again. What was stored is still there. */
  restore(place: Place): Awaitable<void>;
}

/** Opens a storage for the running test, which closes it. */
export async function opened<Place>({ open }: StorageUnderTest<Place>, place: Place): Promise<PetStorage> {
  const storage = await open(place);
  onTestFinished(async () => {
    await storage.close();
  });
  return storage;
}

/** Opens a storage at a new place for the running test. */
export async function emptyStorage<Place>(adapter: StorageUnderTest<Place>): Promise<PetStorage> {
  return opened(adapter, await adapter.freshPlace());
}
