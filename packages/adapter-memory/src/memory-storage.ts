import { closed, type KeyStore, type PetStorage, type PetStore } from '@animal-store/domain/ports';
import { createMemoryKeyStore } from './memory-key-store.ts';
import { createMemoryPetStore } from './memory-pet-store.ts';

/** Pets and API keys in memory. Several storages can be opened on it; it outlives them. */
export interface Memory {
  readonly pets: PetStore;
  readonly keys: KeyStore;
}

export function createMemory(): Memory {
  return { pets: createMemoryPetStore(), keys: createMemoryKeyStore() };
}

export function openMemory({ pets, keys }: Memory): PetStorage {
  let isClosed = false;

  /** Wraps a function so that it rejects with `storage_unavailable` once the storage is closed. */
  function untilClosed<Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) {
    return async (...given: Given): Promise<Result> => {
      if (isClosed) throw closed();
      return call(...given);
    };
  }

  async function close(): Promise<void> {
    isClosed = true;
  }

  return {
    pets: { add: untilClosed(pets.add), find: untilClosed(pets.find), list: untilClosed(pets.list) },
    keys: {
      add: untilClosed(keys.add),
      find: untilClosed(keys.find),
      list: untilClosed(keys.list),
      revoke: untilClosed(keys.revoke),
      prune: untilClosed(keys.prune),
      recordUse: untilClosed(keys.recordUse),
    },
    location: 'this process',
    ready: untilClosed(async () => {}),
    close,
    [Symbol.asyncDispose]: close,
  };
}
