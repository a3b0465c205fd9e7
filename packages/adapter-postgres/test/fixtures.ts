import type { PetStorage } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { createPostgresStorage } from '../src/index.ts';

/** A storage that is closed when the running test ends. */
export function openStorage(url: string): PetStorage {
  const storage = createPostgresStorage({ url });
  onTestFinished(() => storage.close());
  return storage;
}
