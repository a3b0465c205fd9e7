import { closed, mapPorts, type Ports, type Storage } from '@animal-store/domain/ports';
import { createMemoryApiKeyRepository } from './keys.ts';
import { createMemoryPetRepository } from './pets.ts';

/** Pets and API keys in memory. Several storages can be opened on it; it outlives them. */
export function createMemory(): Ports {
  return { pets: createMemoryPetRepository(), keys: createMemoryApiKeyRepository() };
}

export function openMemory(memory: Ports): Storage {
  let isClosed = false;

  const untilClosed =
    <Given extends unknown[], R>(method: (...given: Given) => Promise<R>) =>
    (...given: Given): Promise<R> =>
      isClosed ? Promise.reject(closed()) : method(...given);

  async function close(): Promise<void> {
    isClosed = true;
  }

  return {
    ...mapPorts(memory, untilClosed),
    location: 'this process',
    ready: untilClosed(async () => {}),
    close,
    [Symbol.asyncDispose]: close,
  };
}
