import type { Awaitable, PetStorage } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';

/** Opens a storage that is new and empty, as often as it is called; what it has no more use for goes with `close`. */
export type OpenStorage = () => Awaitable<PetStorage>;

/** An empty storage for the running test, closed when the test ends. */
export async function storageForTest(open: OpenStorage): Promise<PetStorage> {
  const storage = await open();
  onTestFinished(async () => {
    await storage.close();
  });
  return storage;
}
