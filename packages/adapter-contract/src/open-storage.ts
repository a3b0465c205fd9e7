import type { Awaitable, Storage } from '@animal-store/domain';
import { onTestFinished } from 'vitest';

/** Opens a storage that is new and empty, as often as it is called; what it has no more use for goes with `close`. */
export type OpenStorage = () => Awaitable<Storage>;

/** An empty storage for the running test, closed when the test ends. */
export async function storageForTest(open: OpenStorage): Promise<Storage> {
  const storage = await open();
  onTestFinished(async () => {
    await storage.close();
  });
  return storage;
}
