import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { mapPorts, type Storage } from '@animal-store/domain/ports';

/** Waits for its place to be made, by a timer that keeps no process alive. */
export function createWaitingStorage(): Storage {
  const { pets, ...storage } = createMemoryStorage();
  async function add(...given: Parameters<typeof pets.add>) {
    await sleep(50, null, { ref: false });
    return pets.add(...given);
  }
  return { ...storage, pets: { ...pets, add } };
}

/** Forgets its calls in flight when it is closed. */
export function createForgettingStorage(): Storage {
  const storage = createMemoryStorage();
  let isClosed = false;
  const ports = mapPorts(storage, (method) => async (...given) => {
    const result = await method(...given);
    return isClosed ? new Promise<never>(() => {}) : result;
  });
  async function close(): Promise<void> {
    isClosed = true;
    await storage.close();
  }
  return { ...storage, ...ports, close };
}

/** Connects when it is first called, which takes a while. */
export async function createConnectingStorage(options: { file: string }): Promise<Storage> {
  const storage = await createSqliteStorage(options);
  let connected: Promise<void> | undefined;
  const ports = mapPorts(storage, (method) => async (...given) => {
    connected ??= sleep(1_000);
    await connected;
    return method(...given);
  });
  return { ...storage, ...ports };
}

/** Connects again if a connection breaks, after a time that keeps no process alive. */
export function createRetryingStorage({ port }: { port: number }): Storage {
  const storage = createMemoryStorage();
  async function connected(): Promise<void> {
    const socket = connect(port, '127.0.0.1');
    try {
      socket.write('a line that comes back\n');
      await once(socket, 'data');
    } catch {
      await sleep(100, null, { ref: false });
      await connected();
    } finally {
      socket.destroy();
    }
  }
  const ports = mapPorts(storage, (method) => async (...given) => {
    await connected();
    return method(...given);
  });
  return { ...storage, ...ports };
}
