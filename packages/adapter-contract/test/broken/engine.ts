import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { type ApiKey, LIMITS } from '@animal-store/domain';
import {
  apiKeyId,
  type Idempotency,
  type PetArchive,
  type Ports,
  requireTime,
  requiringTimes,
  type StoredPet,
} from '@animal-store/domain/ports';

/** What is stored at a place, in order of id, and what an operator or an outage does to it. */
export interface Place {
  pets: StoredPet[];
  readonly keys: ApiKey[];
  lastId: bigint;
  format: number;
  isCounterBack: boolean;
  isPartAway: boolean;
  isNodeAway: boolean;
  /** So many calls of `ready`, or openings, fail before another node takes over. */
  readyUntilElection: number;
  isLost: boolean;
  /** Calls wait for it. */
  lock: PromiseWithResolvers<void> | undefined;
}

export const LOST = 'the place was lost';

/** What a call can ask for: the ports, and what only a wrong adapter does. */
export interface Operations extends Ports {
  readonly archive: PetArchive;
  readonly place: {
    ready(): Promise<void>;
    format(): Promise<number>;
    /** Sets the counter of ids, perhaps back. */
    setCounter(lastId: bigint): Promise<void>;
    /** Changes members of a stored record, whatever they are. */
    changePet(id: bigint, members: Partial<StoredPet>): Promise<void>;
    changeKey(id: string, members: Partial<ApiKey>): Promise<void>;
  };
}

const places = new Map<string, Place>();

/**
 * The place of a URL, in the process of the engines; that of the first of them which has this name. In another process it is one
 * to which nobody does anything.
 */
export const placeAt = (url: string): Place => places.get(new URL(url).pathname) ?? newPlace();

export const newPlace = (): Place => ({
  ...{ pets: [], keys: [], lastId: 0n, format: 1, lock: undefined },
  ...{ isCounterBack: false, isPartAway: false, isNodeAway: false, readyUntilElection: 0, isLost: false },
});

interface Item {
  readonly id: bigint | string;
}

/** The index of the first item that has this id or a greater one. Most are put at the end. */
const indexOf = (items: readonly Item[], id: bigint | string) => items.findLastIndex((item) => item.id < id) + 1;

const itemOf = <Found extends Item>(items: readonly Found[], id: Found['id']): Found | undefined =>
  items.find((item) => item.id === id);

const itemsAfter = <Found extends Item>(items: readonly Found[], after: Found['id']) =>
  items.filter(({ id }) => id > after);

/** Each operation is one turn of the event loop, so it is atomic. */
export function operationsOn(place: Place): Operations {
  const { pets, keys } = place;
  const toPet = ({ idempotency: _, createdAt: __, ...pet }: StoredPet) => pet;
  const ofKey = ({ holder, key }: Idempotency) =>
    pets.find(({ idempotency }) => idempotency?.key === key && idempotency.holder === holder);
  const insert = (pet: StoredPet) => void pets.splice(indexOf(pets, pet.id), 0, pet);

  function replace(id: string, changed: (key: ApiKey) => Partial<ApiKey>): ApiKey | null {
    const key = itemOf(keys, id);
    if (key !== undefined) keys[indexOf(keys, id)] = { ...key, ...changed(key) };
    return itemOf(keys, id) ?? null;
  }

  return {
    pets: {
      async add({ name, ...others }, idempotency) {
        const earlier = idempotency && ofKey(idempotency);
        if (earlier !== undefined) {
          const isSame = earlier.idempotency?.fingerprint === idempotency?.fingerprint;
          return isSame ? { pet: toPet(earlier), created: false } : null;
        }
        do {
          if (place.lastId >= LIMITS.id.maxAssigned) throw new RangeError('no id is left');
          place.lastId += 1n;
        } while (itemOf(pets, place.lastId) !== undefined);
        const pet = { id: place.lastId, name, ...others };
        insert({ ...pet, createdAt: Date.now(), ...(idempotency && { idempotency }) });
        return { pet, created: true };
      },
      async find(id) {
        const found = itemOf(pets, id);
        return found ? toPet(found) : null;
      },
      async list({ status, after, limit }) {
        const later = itemsAfter(pets, after);
        const found = status === undefined ? later : later.filter((pet) => pet.status === status);
        return found.slice(0, limit).map(toPet);
      },
    },
    keys: requiringTimes({
      async add(key) {
        if (itemOf(keys, key.id) === undefined) keys.splice(indexOf(keys, key.id), 0, key);
      },
      async find(digest) {
        const key = itemOf(keys, apiKeyId(digest));
        return key?.digest === digest ? key : null;
      },
      list: async ({ after, limit }) => itemsAfter(keys, after).slice(0, limit),
      revoke: async (id, at) => replace(id, ({ revokedAt }) => ({ revokedAt: revokedAt ?? at })),
      async recordUse(id, at) {
        replace(id, () => ({ lastUsedAt: at }));
      },
    }),
    archive: {
      read: async (after, limit) => itemsAfter(pets, after).slice(0, limit),
      async restore(given) {
        for (const pet of given) {
          requireTime(pet.createdAt);
          if (pet.id > place.lastId) place.lastId = pet.id;
          if (!itemOf(pets, pet.id) && !(pet.idempotency && ofKey(pet.idempotency))) insert(pet);
        }
      },
      lastId: async () => place.lastId,
      async skipIds(lastId) {
        if (lastId > place.lastId) place.lastId = lastId;
      },
    },
    place: {
      ready: async () => {},
      format: async () => place.format,
      async setCounter(lastId) {
        place.lastId = lastId;
      },
      async changePet(id, members) {
        const pet = itemOf(pets, id);
        if (pet === undefined) return;
        pets.splice(indexOf(pets, id), 1);
        insert({ ...pet, ...members });
      },
      async changeKey(id, members) {
        replace(id, () => members);
      },
    },
  };
}

/** A call on its way, as v8.serialize writes it. */
export interface Call {
  readonly number: number;
  readonly path: string;
  readonly port: string;
  readonly method: string;
  readonly given: readonly unknown[];
  /** In milliseconds: the engine begins nothing later. */
  readonly timeout: number;
}

/** The response to a call. */
export interface Response {
  readonly number: number;
  readonly result?: unknown;
  readonly error?: Error;
}

/** One message a line. */
export const toLine = (message: Call | Response) => `${serialize(message).toString('base64')}\n`;
export const fromLine = (line: string) => deserialize(Buffer.from(line, 'base64'));

async function execute(place: Place, { port, method, given, timeout }: Call): Promise<unknown> {
  const received = performance.now();
  await place.lock?.promise;
  if (performance.now() > received + timeout) throw new Error('it is too late');
  if (place.isPartAway) throw new Error('a partition is away');
  if (place.readyUntilElection > 0) {
    // A connection that opens asks for the format.
    if (port === 'place') place.readyUntilElection -= 1;
    throw new Error('no node leads');
  }
  if (place.isLost) throw new Error(LOST);
  return Reflect.get(Reflect.get(operationsOn(place), port), method)(...given);
}

/** Starts an engine. Returns a function that makes an empty place, and returns its URL. */
export async function startEngine(credentials: string): Promise<(path?: string) => string> {
  const own = new Map<string, Place>();
  const server = createServer((socket) => {
    const lines = createInterface({ input: socket.on('error', () => {}) }).on('error', () => {});
    lines.on('line', async (line) => {
      const call: Call = fromLine(line);
      const { number } = call;
      const response = await execute(own.get(call.path) as Place, call).then(
        (result): Response => ({ number, result }),
        (error): Response => ({ number, error }),
      );
      // Before a later call changes the result.
      const responseLine = toLine(response);
      // Some responses come later than others: a connection may break between a write and its response.
      for (let turns = number % 10; turns > 0; turns -= 1) await nextTurn();
      socket.write(responseLine);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (path = `/${crypto.randomUUID()}`) => {
    const place = newPlace();
    own.set(path, place);
    if (!places.has(path)) places.set(path, place);
    return `test://${credentials}@127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  };
}
