import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBatches } from '@animal-store/adapter-kit';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { type ApiKey, DomainError, type NewPet, type Pet } from '@animal-store/domain';
import {
  type Creation,
  fingerprint,
  type Idempotency,
  type PetArchive,
  type PetRepository,
  type PetSelection,
  type Ports,
  type Storage,
  unavailable,
} from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { everyKey } from '../../src/index.ts';
import { CLOSED, eachCall, placeAt, type RemoteOptions } from './remote-memory.ts';

/** What a wrong adapter does instead of the right one. */
type Change = (storage: Storage, url: string) => Partial<Storage>;

type Whole = Ports & { readonly archive: PetArchive };

const FOREVER = 2 ** 31 - 1;

/** Changes one method of a port. */
const method =
  <P extends keyof Whole, M extends keyof Whole[P]>(port: P, name: M) =>
  (change: (right: Whole[P][M], url: string, storage: Storage) => Whole[P][M]): Change =>
  (storage, url) => {
    const methods = (storage as Whole)[port];
    return { [port]: { ...methods, [name]: change(methods[name], url, storage) } };
  };

const add = method('pets', 'add');
const find = method('pets', 'find');
const list = method('pets', 'list');
const addKey = method('keys', 'add');
const findKey = method('keys', 'find');
const listKeys = method('keys', 'list');
const revoke = method('keys', 'revoke');
const read = method('archive', 'read');
const restore = method('archive', 'restore');

const both =
  (one: Change, other: Change): Change =>
  (storage, url) => {
    const changed = { ...storage, ...one(storage, url) };
    return { ...changed, ...other(changed, url) };
  };

/** For a change that has variables: each storage has its own. */
const inEach =
  (makeChange: () => Change): Change =>
  (storage, url) =>
    makeChange()(storage, url);

const changed = <Value extends object>(value: Value | null, change: (value: Value) => Partial<Value>) =>
  value && { ...value, ...change(value) };

const created = (change: (pet: Pet) => Partial<Creation>): Change =>
  add((add) => async (pet, key) => changed(await add(pet, key), ({ pet }) => change(pet)));

const withId = (idOf: (id: bigint) => bigint): Change => created((pet) => ({ pet: { ...pet, id: idOf(pet.id) } }));

const idempotency = (change: (idempotency: Idempotency, pet: NewPet) => Partial<Idempotency>): Change =>
  add((add) => (pet, given) => add(pet, given && { ...given, ...change(given, pet) }));

const listed = (change: (selection: PetSelection) => Partial<PetSelection>): Change =>
  list((list) => (selection) => list({ ...selection, ...change(selection) }));

const found = (change: (key: ApiKey) => Partial<ApiKey>): Change =>
  findKey((find) => async (digest) => changed(await find(digest), change));

/** Each call fails with another error. */
const failing =
  (change: (error: Error, url: string) => unknown): Change =>
  (storage, url) =>
    eachCall(storage, (call) => call().catch((error) => Promise.reject(change(error, url))));

/** Lists of the same name at the same time share what the first of them finds. */
const sharedLists = (nameOf: (selection: PetSelection) => string): Change =>
  list((list) => {
    const inFlight = new Map<string, ReturnType<typeof list>>();
    return (selection) => {
      const name = nameOf(selection);
      const end = () => sleep(2).then(() => void inFlight.delete(name));
      const page = inFlight.get(name) ?? list(selection).finally(end);
      inFlight.set(name, page);
      return page;
    };
  });

/** Caches the keys that are found, until the same storage revokes one. */
const cachedKeys = inEach(() => {
  const cache = new Map<string, ApiKey>();
  return both(
    findKey((find) => async (digest) => {
      const key = cache.get(digest) ?? (await find(digest));
      await sleep(2);
      if (key !== null) cache.set(digest, key);
      return key;
    }),
    revoke((revoke) => (id, at) => revoke(id, at).finally(() => cache.clear())),
  );
});

/** A connection that is open until the test ends, besides those of the storage. */
function connection(url: string): Socket {
  const socket = connect(Number(new URL(url).port)).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Sets of places, by the paths of their URLs. */
const sets = new Map<string, Set<unknown>>();

function setOf(url: string): Set<unknown> {
  const { pathname } = new URL(url);
  const set = sets.get(pathname) ?? new Set();
  sets.set(pathname, set);
  return set;
}

const shared = createMemoryStorage().keys;
let opened = 0;

/** By the names in the README of the contract. */
export const CHANGES: Readonly<Record<string, Change>> = {
  'A name is normalized': add((add) => (pet, key) => add({ ...pet, name: pet.name.normalize() }, key)),
  'An id is cut to 52 bits': find((find) => (id) => find(BigInt.asUintN(52, id))),
  'Each connection assigns ids of its own block': withId((id) => (id + 1n) ^ 1n),
  'Calls are rejected while 500 are in flight': (storage) => {
    let inFlight = 0;
    return eachCall(storage, (call) => {
      if (inFlight === 500) throw unavailable();
      inFlight += 1;
      return call().finally(() => {
        inFlight -= 1;
      });
    });
  },
  'Ids are ordered as texts': list((list) => async ({ after, limit, ...selection }) => {
    const all = await list({ ...selection, after: 0n, limit: 2_000 });
    const ordered = all.toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1));
    const begin = ordered.findIndex(({ id }) => id > after);
    return begin < 0 ? [] : ordered.slice(begin, begin + limit);
  }),
  'A list joins one that began before it': sharedLists((selection) => Object.values(selection).join()),
  'A wrong pet fails the calls at the same time': add((add) => {
    let isWrong = false;
    return async (pet, key) => {
      isWrong ||= pet.name === null;
      const creation = await add(pet, key);
      if (isWrong) throw new TypeError('a name is missing');
      return creation;
    };
  }),
  'Every error is an outage': failing(unavailable),
  'A page has 100 pets at most': listed(({ limit }) => ({ limit: Math.min(limit, 100) })),
  'The begin of a page is cut to 32 bits': listed(({ after }) => ({ after: BigInt.asUintN(32, after) })),
  'A page has the newest pets': list(
    (list) => async (selection) => (await list({ ...selection, limit: 1_000 })).slice(-selection.limit),
  ),
  'Lists at the same time share one page': sharedLists(() => 'a page'),
  'A repetition is said to have created the pet': created(() => ({ created: true })),
  'Fingerprints are not compared': idempotency(() => ({ fingerprint: '' })),
  'A fingerprint is cut to 1,200 characters': idempotency(({ fingerprint }) => ({
    fingerprint: fingerprint.slice(0, 1_200),
  })),
  'A fingerprint has no status': idempotency((_, { status, ...pet }) => ({ fingerprint: fingerprint(pet) })),
  'A fingerprint has no category': idempotency((_, pet) => ({ fingerprint: fingerprint({ ...pet, categoryId: 0n }) })),
  'Idempotency keys are compared without their case': idempotency(({ key }) => ({ key: key.toLowerCase() })),
  'An idempotency key is looked up, then stored in a second step': add((add) => {
    const earlier = new Map<string, Creation>();
    return async (pet, key) => {
      const name = JSON.stringify(key);
      const creation = earlier.get(name) ?? ((await add(pet)) as Creation);
      earlier.set(name, { ...creation, created: false });
      return creation;
    };
  }),
  'Only the last idempotency key is kept': inEach(() => {
    let [last, changes] = ['', 0];
    return idempotency(({ key }) => {
      if (key !== last) changes += 1;
      last = key;
      return { holder: String(changes) };
    });
  }),
  'An API key is found by the begin of its digest': findKey((_, __, { keys }) => async (digest) => {
    return (await everyKey(keys)).find(({ id }) => digest.startsWith(id)) ?? null;
  }),
  'A second record with the same digest is an error': addKey((add, _, { keys }) => async (key) => {
    if ((await keys.find(key.digest)) !== null) throw new Error('violates the unique index');
    await add(key);
  }),
  'A list of API keys ends after 100': listKeys((list) => async ({ after, limit }) => {
    return (await list({ after, limit: 101 })).slice(0, Math.min(limit, 100));
  }),
  'A second revocation changes the time': revoke(
    (revoke) => async (id, at) => changed(await revoke(id, at), () => ({ revokedAt: at })),
  ),
  'A time of 0 is stored as none': found(({ revokedAt }) => ({ revokedAt: revokedAt || null })),
  'A lookup in flight caches a key that was revoked': cachedKeys,
  'The first use is kept': found(({ lastUsedAt }) => ({ lastUsedAt: lastUsedAt && 1_000 })),
  'The location is the URL': (_, url) => ({ location: url }),
  'A second close fails': ({ close }) => {
    let closes = 0;
    return { close: () => (closes++ === 0 ? close() : Promise.reject(new Error('closed already'))) };
  },
  'A closed storage connects again': () => ({ close: async () => {} }),
  'The end of a block does not close the storage': () => ({ [Symbol.asyncDispose]: async () => {} }),
  'A call in flight fails with the error of the driver': failing((error) => error.cause ?? error),
  'An idempotency key is known to one storage only': inEach(() => {
    const id = crypto.randomUUID();
    return idempotency(({ holder }) => ({ holder: `${id} ${holder}` }));
  }),
  'All places have the same API keys': () => ({ keys: shared }),
  'An idempotency key expires': idempotency(({ holder }) => ({ holder: `${new Date().getFullYear()} ${holder}` })),
  'A timer goes on after close': () => {
    const timer = setInterval(() => {}, 1_000);
    onTestFinished(() => clearInterval(timer));
    return {};
  },
  'Every third storage leaves a connection open': (_, url) => {
    opened += 1;
    if (opened % 3 === 0) connection(url);
    return {};
  },
  'A connection that is being opened is not closed': (_, url) => {
    const socket = connection(url);
    socket.on('data', () => socket.destroy()).write('hello\n');
    return {};
  },
  'A pet is first read from a replica that lags': find((find) => {
    const known = new Set<bigint>();
    return async (id) => (known.size === known.add(id).size ? find(id) : null);
  }),
  'Each process counts its own ids': inEach(() => {
    let last = 0n;
    return withId(() => ++last);
  }),
  'A pet is stored before its key, and removed if the key is taken': both(
    list((list, url) => async (selection) => (await list(selection)).filter(({ id }) => !setOf(url).has(id))),
    add((add, url) => async (pet, key) => {
      const first = await add(pet);
      const creation = await add(pet, key);
      setOf(url).add(first?.pet.id);
      return creation;
    }),
  ),
  'An API key is cached by each process': cachedKeys,
  'Closing one storage closes all at its place': (storage, url) => {
    const all = setOf(url).add(storage) as Set<Storage>;
    return { close: async () => void (await Promise.all([...all].map((each) => each.close()))) };
  },
  'An error contains the URL': failing((cause, url) => unavailable(new Error(url, { cause }))),
  'An error has no cause': failing((error) => (DomainError.is(error) ? unavailable() : error)),
  'A creation in an outage is acknowledged, and stored later': add((add) => (pet, key) => {
    return add(pet, key).catch(() => ({ pet: { id: 1_000_000n, ...pet }, created: true }));
  }),
  'Close waits for a response': ({ ready, close }) => ({ close: () => ready().finally(close) }),
  'A pool loses a connection with every tenth failure': (storage) => {
    let failures = 0;
    return eachCall(storage, (call) => {
      if (failures >= 80) throw unavailable();
      return call().catch((error) => {
        failures += 1;
        throw error;
      });
    });
  },
  'A failed COMMIT is taken for a success': add((add) => (pet, key) => {
    if (key !== undefined) return add(pet, key);
    return add(pet).catch(() => ({ pet: { id: 1_000_000n, ...pet }, created: true }));
  }),
  'The index of statuses is written in a second step': both(
    add((add, url, { ready }) => async (...given) => {
      const creation = await add(...given);
      await ready();
      setOf(url).add(creation?.pet.id);
      return creation;
    }),
    list((list, url) => async ({ status, ...range }) => {
      return (await list({ status, ...range })).filter(({ id }) => status === undefined || setOf(url).has(id));
    }),
  ),
  'A batch is repeated if its COMMIT gets no response': add((add, _, { ready }) => {
    async function addAll(all: readonly Parameters<PetRepository['add']>[]) {
      await ready();
      const commit = async () => {
        const creations = await Promise.all(all.map((given) => add(...given)));
        // A standby writes them, too.
        await ready();
        return creations;
      };
      return commit().catch(commit);
    }
    const addInBatch = createBatches(addAll, { maxItems: 1_000 });
    return (...given) => addInBatch(given);
  }),
  'A creation makes a lost place anew': add((add, url) => {
    const another = createMemoryStorage().pets;
    return (...given) => (placeAt(url).isLost ? another.add(...given) : add(...given));
  }),
  'The operator does not read that a place was lost': failing(() => unavailable(new Error('no response'))),
  'A new connection makes a lost place anew': add((add, url) => {
    const another = createMemoryStorage().pets;
    let isNew = false;
    return async (...given) => {
      if (isNew && placeAt(url).isLost) return another.add(...given);
      return add(...given).catch((error) => {
        isNew = error.cause?.message === CLOSED;
        throw error;
      });
    };
  }),
  'A replaced connection is not closed': ({ close }, url) => {
    const socket = connection(url);
    return { close: () => close().finally(() => socket.destroy()) };
  },
  'A creation is repeated if the connection breaks': add(
    (add) => (pet, key) => add(pet, key).catch(() => add(pet, key)),
  ),
  'The time of a creation is cut to seconds': read((read) => async (...given) => {
    return (await read(...given)).map((pet) => ({ ...pet, createdAt: pet.createdAt - (pet.createdAt % 1_000) }));
  }),
  'A restored pet has no status': restore((restore) => (stored) => restore(stored.map(({ status: _, ...pet }) => pet))),
  'An id is rounded to 14 digits': withId((id) => BigInt(Number(Number(id).toPrecision(14)))),
  'A restored pet whose id is stored is an error': restore((restore, _, { pets }) => async (stored) => {
    for (const { id } of stored) if ((await pets.find(id)) !== null) throw new Error('violates the primary key');
    await restore(stored);
  }),
};

/** What is wrong about the connection, and the outage in which it shows itself: `cut` if there is none. */
export const OPTIONS: Readonly<Record<string, RemoteOptions & { outage?: 'silent' | 'lost responses' }>> = {
  'The stored format is not checked': { checksFormat: false },
  'A call has no time limit': { outage: 'lost responses', timeout: FOREVER },
  'Close waits for a response': { outage: 'lost responses', timeout: FOREVER },
  'A connection that stays silent is never replaced': { outage: 'silent', replacesSilentConnections: false },
  'A replaced connection is not closed': { outage: 'silent' },
};
