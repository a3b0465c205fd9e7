import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import type { Storage } from '@animal-store/domain/ports';

/** Waits for its place to be made, by a timer that keeps no process alive. */
export function createWaitingStorage(): Storage {
  const { pets, ...storage } = createMemoryStorage();
  async function add(...given: Parameters<typeof pets.add>) {
    await sleep(50, null, { ref: false });
    return pets.add(...given);
  }
  return { ...storage, pets: { ...pets, add } };
}
