import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { type ApiKey, LIMITS } from '@animal-store/domain';
import type { PetArchive, Ports, StoredPet } from '@animal-store/domain/ports';

/** What is stored at a place, in order of id, and what an operator or an outage does to it. */
export interface Place {
  pets: StoredPet[];
  readonly keys: ApiKey[];
  lastId: bigint;
  format: number;
  isCounterBack: boolean;
  isPartAway: boolean;
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
    /** Changes members of a record, whatever they are. */
    change(port: 'pets' | 'keys', id: unknown, members: object): Promise<void>;
  };
}

const places = new Map<string, Place>();

/** The place of a URL, in the process of the engine. */
export const placeAt = (url: string) => places.get(new URL(url).pathname) as Place;

export const newPlace = (): Place => ({
  ...{ pets: [], keys: [], lastId: 0n, format: 1, lock: undefined },
  ...{ isCounterBack: false, isPartAway: false, isLost: false },
});

/** Keeps the order of ids. */
function insert<Item extends { readonly id: bigint | string }>(items: Item[], item: Item): void {
  items.splice(items.findLastIndex(({ id }) => id < item.id) + 1, 0, item);
}

/** Each operation is one turn of the event loop, so it is atomic. */
export function operationsOn(place: Place): Operations {
  const { pets, keys } = place;
  const toPet = ({ idempotency: _, createdAt: __, ...pet }: StoredPet) => pet;
  const ofKey = ({ holder, key }: { holder: string; key: string }) =>
    pets.find(({ idempotency }) => idempotency?.key === key && idempotency.holder === holder);
  const replace = (id: string, changed: (key: ApiKey) => Partial<ApiKey>) => {
    const index = keys.findIndex((key) => key.id === id);
    const key = keys[index];
    if (key !== undefined) keys[index] = { ...key, ...changed(key) };
    return keys[index] ?? null;
  };
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
        } while (pets.some(({ id }) => id === place.lastId));
        const pet = { id: place.lastId, name, ...others };
        insert(pets, { ...pet, createdAt: Date.now(), ...(idempotency && { idempotency }) });
        return { pet, created: true };
      },
      async find(id) {
        if (typeof id !== 'bigint') throw new TypeError('an id must be a bigint');
        const found = pets.find((pet) => pet.id === id);
        return found ? toPet(found) : null;
      },
      async list({ status, after, limit }) {
        const found = pets.filter((pet) => pet.id > after && (status === undefined || pet.status === status));
        return found.slice(0, limit).map(toPet);
      },
    },
    keys: {
      async add(key) {
        if (!keys.some(({ id }) => id === key.id)) insert(keys, key);
      },
      find: async (digest) => keys.find((key) => key.digest === digest) ?? null,
      list: async ({ after, limit }) => keys.filter(({ id }) => id > after).slice(0, limit),
      revoke: async (id, at) => replace(id, ({ revokedAt }) => ({ revokedAt: revokedAt ?? at })),
      async recordUse(id, at) {
        if (typeof at !== 'number') throw new TypeError('a time must be a number');
        replace(id, () => ({ lastUsedAt: at }));
      },
    },
    archive: {
      read: async (after, limit) => pets.filter(({ id }) => id > after).slice(0, limit),
      async restore(given) {
        for (const pet of given) {
          if (pet.id > place.lastId) place.lastId = pet.id;
          const isStored = pets.some(({ id }) => id === pet.id) || (pet.idempotency && ofKey(pet.idempotency));
          if (!isStored) insert(pets, pet);
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
      async change(port, id, members) {
        Object.assign(place[port].find((record) => record.id === id) ?? {}, members);
        pets.sort((one, other) => Number(one.id - other.id));
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

async function execute({ path, port, method, given, timeout }: Call): Promise<unknown> {
  const received = performance.now();
  const place = places.get(path) as Place;
  await place.lock?.promise;
  if (performance.now() > received + timeout) throw new Error('it is too late');
  if (place.isPartAway) throw new Error('a partition is away');
  if (place.isLost) throw new Error(LOST);
  return Reflect.get(Reflect.get(operationsOn(place), port), method)(...given);
}

/** Starts the engine. Returns a function that makes an empty place, and returns its URL. */
export async function startEngine(credentials: string): Promise<() => string> {
  const server = createServer((socket) => {
    const lines = createInterface({ input: socket.on('error', () => {}) }).on('error', () => {});
    lines.on('line', async (line) => {
      const call: Call = fromLine(line);
      const { number } = call;
      const response = await execute(call).then(
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
  return () => {
    const path = `/${crypto.randomUUID()}`;
    places.set(path, newPlace());
    return `test://${credentials}@127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  };
}
