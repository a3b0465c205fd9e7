import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiKey, NewPet, Pet } from '@animal-store/domain';
import {
  closed,
  type Idempotency,
  type PetStorage,
  StorageMisconfigured,
  unavailable,
} from '@animal-store/domain/ports';
import { frame, messages, type Operations } from './server.ts';

/** Errors that an author of an adapter may make. */
export type Bug =
  | 'a COMMIT that failed is swallowed'
  | 'the pool loses a connection with every tenth failure'
  | 'calls are rejected while many wait for a connection'
  | 'there is no timeout'
  | 'a lookup in flight caches a key that was revoked'
  | 'a pet is stored before its key, and removed if the key is taken'
  | 'a creation is repeated if the connection breaks'
  | 'times are stored in the time zone of the process'
  | 'an error contains the URL'
  | 'a misconfiguration is a plain error';

const MAX_CONNECTIONS = 8;
const MAX_WAITING = 500;

/** The time limit of a call, in milliseconds. */
const TIMEOUT = 2_500;

const CACHE_AGE = 200;

/** A storage on a server of these tests, as an author of an adapter would write it, with one error or none. */
export function createTestStorage(text: string, bug?: Bug): PetStorage {
  const url = new URL(text);
  if (url.password === '') {
    throw new (bug === 'a misconfiguration is a plain error' ? Error : StorageMisconfigured)('a password is missing');
  }
  const sockets = new Set<Socket>();
  const idle: Socket[] = [];
  /** Calls that wait for another one to end. */
  const waiting: (() => void)[] = [];
  let free = MAX_CONNECTIONS;
  let failed = 0;
  let isClosed = false;

  async function acquire(expired: Promise<never>): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    if (bug === 'calls are rejected while many wait for a connection' && waiting.length >= MAX_WAITING) {
      throw new Error('too many calls');
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    await Promise.race([promise, expired]).catch((reason) => {
      waiting.splice(waiting.indexOf(resolve), 1);
      throw reason;
    });
  }

  async function expiry(): Promise<never> {
    if (bug === 'there is no timeout') return new Promise(() => {});
    await sleep(TIMEOUT, undefined, { ref: false });
    throw new Error('the server did not respond in time');
  }

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  function connected(): Socket {
    // The storage may have been closed while a call waited.
    if (isClosed) throw closed();
    for (let socket = idle.pop(); socket !== undefined; socket = idle.pop()) if (!socket.destroyed) return socket;
    const socket = connect(Number(url.port), url.hostname);
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  }

  /** Sends a message, and waits for the response. */
  async function exchange(message: Buffer, expired: Promise<never>): Promise<unknown> {
    const socket = connected();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const onEnd = () => reject(new Error('the connection was closed'));
    const onData = messages(resolve);
    socket.on('data', onData).on('close', onEnd).write(message);
    try {
      const response = await Promise.race([promise, expired]);
      socket.off('data', onData).off('close', onEnd);
      idle.push(socket);
      return response;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  type Call = <Name extends keyof Operations>(
    operation: Name,
    ...given: Parameters<Operations[Name]>
  ) => Promise<ReturnType<Operations[Name]>>;

  const call: Call = async (operation, ...given) => {
    if (isClosed) throw closed();
    const message = frame([operation, given]);
    const expired = expiry();
    expired.catch(() => {});
    try {
      await acquire(expired);
      try {
        return (await exchange(message, expired)) as never;
      } catch (error) {
        failed += 1;
        if (bug === 'the pool loses a connection with every tenth failure' && failed % 10 === 0) free -= 1;
        throw error;
      } finally {
        release();
      }
    } catch (cause) {
      throw unavailable(bug === 'an error contains the URL' ? new Error(`${url}`, { cause }) : cause);
    }
  };

  async function add(newPet: NewPet, idempotency?: Idempotency) {
    const { name, categoryId, status } = newPet;
    const given = { name, categoryId, ...(status !== undefined && { status }) };
    if (bug === 'a creation is repeated if the connection breaks') {
      return call('add', given, idempotency).catch(() => call('add', given, idempotency));
    }
    if (bug === 'a COMMIT that failed is swallowed' && idempotency === undefined) {
      const pet = await call('prepare', given);
      await call('commit', pet).catch(() => {});
      return { pet, created: true };
    }
    if (bug === 'a pet is stored before its key, and removed if the key is taken' && idempotency !== undefined) {
      const copy = { ...idempotency };
      const creation = (await call('add', given)) as { pet: Pet; created: boolean };
      const id = await call('claim', copy, creation.pet.id);
      if (id === creation.pet.id) return creation;
      await call('remove', creation.pet.id);
      return call('add', given, copy);
    }
    return call('add', given, idempotency);
  }

  const cache = new Map<string, { key: ApiKey; until: number }>();
  async function findKey(digest: string): Promise<ApiKey | null> {
    const cached = cache.get(digest);
    if (cached !== undefined && performance.now() < cached.until) return cached.key;
    const key = await call('findKey', digest);
    if (key !== null && bug === 'a lookup in flight caches a key that was revoked') {
      cache.set(digest, { key, until: performance.now() + CACHE_AGE });
    }
    return key;
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const socket of sockets) socket.destroy();
  }

  const zone =
    bug === 'times are stored in the time zone of the process' ? new Date(0).getTimezoneOffset() * 60_000 : 0;
  const moved = (key: ApiKey, by: number) => ({ ...key, createdAt: key.createdAt + by });

  return {
    pets: {
      add,
      find: (id) => call('find', id),
      list: ({ status, after, limit }) => call('list', { status, after, limit }),
    },
    keys: {
      add: (key) => call('addKey', moved(key, -zone)),
      async find(digest) {
        const key = await findKey(digest);
        return key && moved(key, zone);
      },
      list: async () => (await call('listKeys')).map((key) => moved(key, zone)),
      async revoke(id, at) {
        const key = await call('revokeKey', id, at);
        if (key !== null) cache.delete(key.digest);
        return key && moved(key, zone);
      },
      prune: (before) => call('pruneKeys', before),
      recordUse: (id, at) => call('recordUse', id, at),
    },
    location: url.host,
    ready: () => call('ping'),
    close,
    [Symbol.asyncDispose]: close,
  };
}
