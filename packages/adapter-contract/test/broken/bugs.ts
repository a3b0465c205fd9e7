import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET, createBatches, withTimeout } from '@animal-store/adapter-kit';
import { type ApiKey, DomainError, LIMITS, type Pet } from '@animal-store/domain';
import {
  type ApiKeyRepository,
  type Creation,
  type Idempotency,
  mapPorts,
  type PetArchive,
  type PetRepository,
  type PetSelection,
  StorageMisconfigured,
  type StoredPet,
  unavailable,
} from '@animal-store/domain/ports';
import { type CopiedStorage, type Options, openStorage } from './adapter.ts';
import { LOST, newPlace, type Operations, operationsOn, type Place, placeAt } from './engine.ts';

/** In the URL of each place, as Basic authentication sends them. */
export const CREDENTIALS = 'zoo:the-password-of-the-zoo';

/** What a wrong adapter does instead of the right one. */
type Change = (storage: CopiedStorage, url: string) => Partial<CopiedStorage>;

/** What a cluster does, and an emulator doesn't. */
export type Behind = 'a replica that lags' | 'an engine under load';

/** A bug that an author has made. */
interface Bug extends Options {
  /** The test that finds it. */
  readonly foundBy: string;
  /** What the failure says. */
  readonly message?: RegExp;
  readonly change?: Change;
  /** Where it shows itself: what the place is behind. */
  readonly behind?: Behind;
  /** The outage in which it shows itself, if not `cut`. */
  readonly outage?: 'silent' | 'slow';
}

/** Whether the place of a URL is behind what a bug names. */
const isBehind = (url: string) => new URL(url).search !== '';

/** Changes one method of a port. */
const method =
  <Port extends object>(port: 'pets' | 'keys' | 'archive') =>
  <M extends keyof Port>(name: M, change: (right: Port[M], storage: CopiedStorage, url: string) => Port[M]): Change =>
  (storage, url) => {
    const methods = storage[port] as unknown as Port;
    return { [port]: { ...methods, [name]: change(methods[name], storage, url) } };
  };

const ofPets = method<PetRepository>('pets');
const ofKeys = method<ApiKeyRepository>('keys');
const ofArchive = method<PetArchive>('archive');

/** The API keys that a storage changes, by their ids. */
const changing = new Set<string>();

const both =
  (...changes: readonly Change[]): Change =>
  (storage, url) => {
    let changed = storage;
    for (const change of changes) changed = { ...changed, ...change(changed, url) };
    return changed;
  };

const idempotency = (change: (idempotency: Idempotency) => Partial<Idempotency>): Change =>
  ofPets('add', (add) => (pet, given) => add(pet, given && { ...given, ...change(given) }));

/** Caches the keys that are found, until the same storage revokes one. */
const cachedKeys: Change = (storage, url) => {
  const cache = new Map<string, ApiKey>();
  const cached = both(
    ofKeys('find', (find) => async (digest) => {
      const key = cache.get(digest) ?? (await find(digest));
      await sleep(2);
      if (key !== null) cache.set(digest, key);
      return key;
    }),
    ofKeys('revoke', (revoke) => (id, at) => revoke(id, at).finally(() => cache.clear())),
  );
  return cached(storage, url);
};

/** The restored pets of 16 partitions, of each no more than the engine sends at once. */
async function firstOfPartitions(archive: PetArchive, after: bigint): Promise<readonly StoredPet[]> {
  const all: StoredPet[] = [];
  for (let page = await archive.read(after, 1_000); page.length > 0; ) {
    all.push(...page);
    page = await archive.read(page.at(-1)?.id as bigint, 1_000);
  }
  const sent = new Map<bigint, number>();
  return all.filter(({ id, name, idempotency }) => {
    const bytes = (sent.get(id % 16n) ?? 0) + Buffer.byteLength(name + JSON.stringify(idempotency ?? null));
    sent.set(id % 16n, bytes);
    return bytes <= 2 ** 20;
  });
}

/** Raises the counter of ids once all pets are restored. */
const raisingLast = ofArchive('restore', (restore, { archive, place, ready }) => async (stored) => {
  const last = await archive.lastId();
  for (let done = 0; done < stored.length; done += 100) {
    await restore(stored.slice(done, done + 100));
    await place.setCounter(last);
    for (let count = 0; count < 3; count += 1) await ready();
  }
  await archive.skipIds(stored.at(-1)?.id ?? 0n);
});

/** Reads all pets, and makes a page of those in another order. */
const paged = (orderOf: (pet: Pet) => string): Change =>
  ofPets('list', (list) => async ({ after, limit, ...selection }) => {
    const all = await list({ ...selection, after: 0n, limit: 5_000 });
    const ordered = all.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
    const begin = ordered.findIndex(({ id }) => id > after);
    return begin < 0 ? [] : ordered.slice(begin, begin + limit);
  });

/** Ids go on after the highest that is stored, or that this storage has assigned. */
const afterHighest: Change = (storage, url) => {
  const { pets, archive, place } = storage;
  let own = 0n;
  const lastId = async () => {
    const highest = (await archive.read(0n, 5_000)).at(-1)?.id ?? 0n;
    return highest > own ? highest : own;
  };
  const changed = both(
    ofArchive('lastId', () => lastId),
    ofPets('add', () => async (...given) => {
      await place.setCounter(await lastId());
      const creation = await pets.add(...given);
      own = creation?.pet.id ?? own;
      return creation;
    }),
  );
  return changed(storage, url);
};

/** Rejects calls while too many are in flight. */
function atMost<Given extends unknown[], R>(
  limit: number,
  call: (...given: Given) => Promise<R>,
  counts: (...given: Given) => boolean,
): (...given: Given) => Promise<R> {
  let inFlight = 0;
  return async (...given) => {
    if (!counts(...given)) return call(...given);
    if (inFlight >= limit) throw unavailable(new Error('too many calls'));
    inFlight += 1;
    return call(...given).finally(() => {
      inFlight -= 1;
    });
  };
}

/** Does something before each call. */
function beforeEach(storage: CopiedStorage, work: () => Promise<void>): Partial<CopiedStorage> {
  const ports = mapPorts(
    storage,
    (method) =>
      (...given) =>
        work().then(() => method(...given)),
  );
  return { ...ports, ready: () => work().then(() => storage.ready()) };
}

/** The id of API keys after which a list begins with another. */
const idBefore = (id: string) => (BigInt(`0x${id}`) - 1n).toString(16).padStart(16, '0');

/** Goes on at another place while something is the case, which has what a copy of its own has then. */
function elsewhere(
  isElsewhere: (place: Place) => boolean,
  copyOf: (place: Place) => Partial<Place> = () => ({}),
): Change {
  const others = new WeakMap<Place, Operations>();
  return (storage, url) => {
    function operations(): Operations {
      const place = placeAt(url);
      if (!isElsewhere(place)) return storage;
      const other = others.get(place) ?? operationsOn({ ...newPlace(), ...copyOf(place) });
      others.set(place, other);
      return other;
    }
    const portOf = <Port extends keyof Operations>(port: Port) =>
      new Proxy(storage[port], { get: (_, method) => Reflect.get(operations()[port], method) });
    const ports = { pets: portOf('pets'), keys: portOf('keys'), archive: portOf('archive') };
    return { ...ports, ready: () => operations().place.ready() };
  };
}

/** Goes on at an empty place if its own was lost. */
const createdAnew = elsewhere(({ isLost }) => isLost);

/** Says that the place is another one if a new connection may have made an empty place. */
const makingAnew =
  (makes: (hasMet: boolean) => boolean): Change =>
  ({ ready }, url) => {
    let hasMet = false;
    let isMadeAnew = false;
    return {
      async ready() {
        await ready().catch((failure) => {
          isMadeAnew ||= placeAt(url).isLost && failure.cause.message !== LOST && makes(hasMet);
          hasMet ||= failure.cause.message === LOST;
          throw isMadeAnew ? unavailable(new StorageMisconfigured('the place is another one')) : failure;
        });
      },
    };
  };

/** Fails some creations once something is over, although it is ready. */
const failingAfter = (isSo: (place: Place) => boolean): Change =>
  ofPets('add', (add, _, url) => {
    let left = 0;
    return async (...given) => {
      if (isSo(placeAt(url))) left = 4;
      left -= 1;
      if (left > 0) throw unavailable(new Error('a broken connection'));
      return add(...given);
    };
  });

const isTakenOver = ({ isNodeAway, readyUntilElection }: Place) => isNodeAway && readyUntilElection === 0;

/** Only a key that was used before has a use to write back. */
const writingBackUses = both(
  ofKeys('revoke', (revoke, { keys, place }) => async (id, at) => {
    const [read] = await keys.list({ after: idBefore(id), limit: 1 });
    await sleep(100);
    if (read?.id === id) await place.changeKey(id, { lastUsedAt: read.lastUsedAt });
    return revoke(id, at);
  }),
  // A use of several requests: some are stored between that reading and writing.
  ofKeys(
    'recordUse',
    (record, { ready }) =>
      (id, at) =>
        ready().then(() => record(id, at)),
  ),
);

/** Writes the whole record that it has read. */
const wholeUses = ofKeys('recordUse', (record, { keys, place }) => async (id, lastUsedAt) => {
  const [read] = await keys.list({ after: idBefore(id), limit: 1 });
  await record(id, lastUsedAt);
  // So long that a busy process revokes meanwhile.
  await sleep(100);
  if (read?.id === id) await place.changeKey(id, { revokedAt: read.revokedAt });
});

/** The first result of a call, or of its repetition, which begins if the call is slow. */
const hedged = <R>(call: Promise<R>, repeat: () => Promise<R>): Promise<R> =>
  withTimeout(call, 300).catch((failure) => {
    if (DomainError.is(failure)) throw failure;
    call.catch(() => {});
    return repeat();
  });

/** A call of several requests. */
const goingOn =
  <Given extends unknown[], R>(call: (...given: Given) => Promise<R>, { ready }: CopiedStorage) =>
  (...given: Given) => {
    const created = (async () => {
      for (let requests = 0; requests < 3; requests += 1) await ready();
      return call(...given);
    })();
    return withTimeout(created, BUDGET.call).catch((failure) => {
      throw unavailable(failure);
    });
  };

/** Calls of the same share one that is in flight. */
function joined<Given, R>(call: (given: Given) => Promise<R>): (given: Given) => Promise<R> {
  const inFlight = new Map<Given, Promise<R>>();
  return (given) => {
    const shared = inFlight.get(given) ?? call(given).finally(() => inFlight.delete(given));
    inFlight.set(given, shared);
    return shared;
  };
}

/** Returns the last result of the same call if it fails. */
function lastKnown<Given, R>(call: (given: Given) => Promise<R>): (given: Given) => Promise<R> {
  const known = new Map<string, R>();
  return async (given) => {
    const name = Object.values(Object(given)).join() || String(given);
    try {
      const result = await call(given);
      known.set(name, result);
      return result;
    } catch (failure) {
      if (!known.has(name)) throw failure;
      return known.get(name) as R;
    }
  };
}

const GHOST = { visiblePrefix: '', holder: '', createdAt: 0, expiresAt: null, revokedAt: null };

const earlierCreations = new Map<string, Creation>();

/** Locks of the process. */
const locks = new Map<string, Promise<unknown>>();

function locked<R>(name: string, work: () => Promise<R>): Promise<R> {
  const ended = Promise.resolve(locks.get(name)).then(work, work);
  locks.set(name, ended);
  return ended;
}

const timersOfModule: NodeJS.Timeout[] = [];

const cacheOfModule = new Map<string, ApiKey>();

const PARTIAL =
  'is right or unavailable in each call while a part of its place is away, not ready if one is unavailable, and works if others take over';

export const BUGS: Readonly<Record<string, Bug>> = {
  'A name is normalized': {
    foundBy: 'assigns an id from 1 to 2^53 - 1, and returns any pet as it was given, code unit for code unit',
    change: ofPets('add', (add) => (pet, key) => add({ ...pet, name: pet.name.normalize() }, key)),
  },
  'Ids are ordered as texts': {
    foundBy: 'serves a thousand calls at once, of each kind',
    change: paged(({ id }) => String(id)),
  },
  'A list joins one that began before it': {
    foundBy: 'shows a pet to every read that begins after its acknowledgement, although others are in flight',
    change: ofPets('list', (list) => {
      const inFlight = new Map<string, ReturnType<typeof list>>();
      return (selection: PetSelection) => {
        const name = Object.values(selection).join();
        const end = () => sleep(2).then(() => void inFlight.delete(name));
        const page = inFlight.get(name) ?? list(selection).finally(end);
        inFlight.set(name, page);
        return page;
      };
    }),
  },
  'A page has 100 pets at most': {
    foundBy: 'lists exactly the matching pets in order over all pages, for any pets, limit and status',
    change: ofPets(
      'list',
      (list) =>
        ({ limit, ...selection }) =>
          list({ ...selection, limit: Math.min(limit, 100) }),
    ),
  },
  'Idempotency keys are compared without their case': {
    foundBy: 'distinguishes keys and holders that differ in one character',
    change: idempotency(({ key }) => ({ key: key.toLowerCase() })),
  },
  'An idempotency key is looked up, then stored in a second step': {
    foundBy: 'creates one pet for many calls at once with one key, and returns null to those with another pet',
    change: ofPets('add', (add) => {
      const earlier = new Map<string, Creation>();
      return async (pet, key) => {
        const name = JSON.stringify(key);
        const creation = earlier.get(name) ?? ((await add(pet)) as Creation);
        earlier.set(name, { ...creation, created: false });
        return creation;
      };
    }),
  },
  'A lookup in flight caches a key that was revoked': {
    foundBy: 'shows a revocation to every find that begins after it, although others are in flight',
    change: cachedKeys,
  },
  'A second record with the same digest is an error': {
    foundBy: 'ignores a second record with the same digest',
    change: ofKeys('add', (add, { keys }) => async (key) => {
      if ((await keys.find(key.digest)) !== null) throw new Error('violates the unique index');
      await add(key);
    }),
  },
  'Each connection assigns ids of its own block': {
    foundBy: 'assigns every id above those of all pets that were acknowledged when the call began',
    change: ofPets('add', (add) => async (pet, key) => {
      const creation = await add(pet, key);
      return creation && { ...creation, pet: { ...creation.pet, id: (creation.pet.id + 1n) ^ 1n } };
    }),
  },
  ...Object.fromEntries(
    Object.entries({
      pet: ofPets('find', lastKnown),
      'page of pets': ofPets('list', lastKnown),
      'API key': ofKeys('find', lastKnown),
      'page of API keys': ofKeys('list', lastKnown),
    }).map(([name, change]): [string, Bug] => [
      `The last known ${name} is returned while the storage is unavailable`,
      {
        foundBy:
          'ends every call within 2.5 seconds, is unavailable or finds all that exists, and closes within 5 seconds',
        message: /AssertionError: cut: /,
        change,
      },
    ]),
  ),
  'The cause of an outage has the credentials in Base64': {
    foundBy: 'ends every call within 2.5 seconds, is unavailable or finds all that exists, and closes within 5 seconds',
    message: /a secret in /,
    change: ofPets('find', (find) => (id) => {
      return find(id).catch((failure) => {
        if (!DomainError.is(failure)) throw failure;
        throw unavailable(new Error(`Basic ${Buffer.from(CREDENTIALS).toString('base64')}`));
      });
    }),
  },
  'Calls fail on the connections of a pool that an outage has broken, although it is ready': {
    foundBy: 'works again, with all that it acknowledged, as does a storage that was opened meanwhile',
    change: ofKeys('add', (add) => {
      let broken = 0;
      return async (key) => {
        if (broken > 0) {
          broken -= 1;
          throw unavailable();
        }
        await add(key).catch((failure) => {
          broken = 30;
          throw failure;
        });
      };
    }),
  },
  'A use beside another change of its API key is unavailable': {
    foundBy: 'keep each use of an API key by one, and each revocation by the other',
    change: ofKeys('recordUse', (recordUse) => async (id, time) => {
      if (changing.has(id)) throw unavailable();
      changing.add(id);
      await recordUse(id, time).finally(() => changing.delete(id));
    }),
  },
  'A connection stays open that has found a wrong format': {
    foundBy: 'rejects a place with the format of a later version, and leaves it unchanged',
    message: /open after close/,
    closesFailedConnections: false,
  },
  'A broken connection is taken for a wrong host in the settings': {
    foundBy: 'works again, with all that it acknowledged, as does a storage that was opened meanwhile',
    message: /although the outage will pass/,
    change: ({ ready }) => ({
      ready: () =>
        ready().catch(() => {
          throw unavailable(new StorageMisconfigured('check the host'));
        }),
    }),
  },
  'A connection that stays silent is never replaced': {
    foundBy: 'works again, with all that it acknowledged, as does a storage that was opened meanwhile',
    outage: 'silent',
    replacesSilentConnections: false,
  },
  'A call that had no response is repeated, for 4.4 seconds in all': {
    foundBy: 'ends every call within 2.5 seconds, is unavailable or finds all that exists, and closes within 5 seconds',
    outage: 'slow',
    change: ofPets('find', (find) => (id) => find(id).catch(() => find(id))),
  },
  'API keys are cached by the module': {
    foundBy: 'show a pet, an API key and a revocation of the other at once',
    change: both(
      ofKeys('find', (find) => async (digest) => {
        const key = cacheOfModule.get(digest) ?? (await find(digest));
        if (key !== null) cacheOfModule.set(digest, key);
        return key;
      }),
      ofKeys('revoke', (revoke) => (id, at) => revoke(id, at).finally(() => cacheOfModule.clear())),
    ),
  },
  'A wait keeps no process alive': {
    foundBy:
      'one of which creates the first pet of a new place, and closes during calls, ends with code 0 and its result',
    change: ofPets(
      'add',
      (add) =>
        (...given) =>
          sleep(50, null, { ref: false }).then(() => add(...given)),
    ),
  },
  'Calls in flight are forgotten when it is closed': {
    message: /ended with code 13/,
    foundBy:
      'one of which creates the first pet of a new place, and closes during calls, ends with code 0 and its result',
    change({ close, ...storage }) {
      let isClosed = false;
      const ports = mapPorts(storage, (method) => (...given) => {
        const unlessClosed = async () => isClosed && new Promise<never>(() => {});
        return method(...given).finally(unlessClosed);
      });
      return {
        ...ports,
        close() {
          isClosed = true;
          return close();
        },
      };
    },
  },
  'The wait for another connection keeps no process alive': {
    foundBy: 'keeps another process alive until its creation has a result or is unavailable, and then lets it end',
    change: ofPets('add', (add, { ready }) => {
      const connected = (): Promise<void> => ready().catch(() => sleep(100, null, { ref: false }).then(connected));
      return (...given) => connected().then(() => add(...given));
    }),
  },
  'Holder and key are joined by a mark': {
    foundBy: 'distinguishes keys and holders that differ in one character',
    change: idempotency(({ holder, key }) => ({ holder: '', key: `${holder}#${key}`.slice(0, 255) })),
  },
  'More than 200 creations with keys at once are rejected': {
    message: /1 at once take \d+ ms, 10 at once take \d+ ms, 100 at once take \d+ ms/,
    foundBy: 'serves a thousand calls at once, each with a key, an id and a page of its own',
    change: ofPets('add', (add) => atMost(200, add, (_, key) => key !== undefined)),
  },
  'More than 600 different pages at once are rejected': {
    foundBy: 'serves a thousand calls at once, each with a key, an id and a page of its own',
    change: ofPets('list', (list) => atMost(600, list, ({ after }) => after > 0n)),
  },
  'The first megabyte of a page is taken for the whole': {
    foundBy: 'lists the largest pets, more than any engine sends at once, and one with another status behind them',
    // The engine reads so much, and then leaves out those with another status.
    change: ofPets('list', (list, { archive }) => async (selection) => {
      let left = 2 ** 20;
      const read = (await archive.read(selection.after, 1_000)).filter((pet) => {
        left -= pet.name.length + JSON.stringify(pet.idempotency ?? null).length;
        return left > 0;
      });
      const last = read.at(-1)?.id ?? 0n;
      return (await list(selection)).filter(({ id }) => id <= last);
    }),
  },
  'A creation without a key is repeated when a connection breaks': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever its connection breaks',
    change: ofPets('add', (add) => async (pet, key) => {
      try {
        return await add(pet, key);
      } catch {
        await sleep(20);
        return add(pet, key);
      }
    }),
  },
  'A creation of ten requests is repeated if the last has no response': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever its connection breaks',
    message: /created twice/,
    change: ofPets('add', (add, { ready }) => async (...given) => {
      for (let requests = 1; requests < 10; requests += 1) await ready();
      return add(...given).catch(() => add(...given));
    }),
  },
  'A creation without a key is repeated on another open connection': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever its connection breaks',
    message: /created twice/,
    change: ofPets('add', (add, _, url) => {
      const another = openStorage(url);
      return async (pet, key) => {
        const isOpen = await another.ready().then(
          () => true,
          () => false,
        );
        return add(pet, key).catch((failure) => {
          if (isOpen && key === undefined) return another.pets.add(pet);
          throw failure;
        });
      };
    }),
  },
  'A late response is no response, and that of its repetition says that the id is taken': {
    foundBy:
      'is right or unavailable in each call, and does no write twice, whichever response comes later than others',
    message: /created twice/,
    change: ofPets('add', (add, { ready }) => (...given) => {
      return withTimeout(add(...given), 500).catch(async (failure) => {
        if (DomainError.is(failure)) throw failure;
        await withTimeout(ready(), 500).catch((second) => {
          throw unavailable(second);
        });
        return add(...given);
      });
    }),
  },
  'The use of an unknown API key makes a record': {
    foundBy: 'keeps a record whole that is added beside 40 uses and revocations, and makes none of an unknown one',
    change: ofKeys('recordUse', (record, { keys }) => async (id, lastUsedAt) => {
      await record(id, lastUsedAt);
      const page = await keys.list({ after: idBefore(id), limit: 1 });
      if (page[0]?.id !== id) await keys.add({ ...GHOST, id, digest: id.padEnd(64, '0'), lastUsedAt });
    }),
  },
  'The counter of ids is raised to the first pet of a restore': {
    foundBy: 'assigns ids above the highest of a call, however far it is above the others',
    change: ofArchive('restore', (restore, { archive, place }) => async (stored) => {
      const last = await archive.lastId();
      await restore(stored);
      await place.setCounter(last);
      await archive.skipIds(stored[0]?.id ?? 0n);
    }),
  },
  'A repeated restore leaves out the pets whose idempotency keys were stored before them': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated, and each pet has its key meanwhile',
    change: ofArchive('restore', (restore) => {
      const claimed = new Set<string>();
      return async (stored) => {
        const left = stored.filter(({ idempotency }) => !claimed.has(idempotency?.key ?? ''));
        for (let done = 0; done < left.length; done += 100) {
          const some = left.slice(done, done + 100);
          for (const { idempotency } of some) if (idempotency) claimed.add(idempotency.key);
          await restore(some);
        }
      };
    }),
  },
  'Ids are padded to nine digits': {
    foundBy: 'lists restored pets in the order of their ids, whatever their number of digits',
    change: paged(({ id }) => String(id).padStart(9, '0')),
  },
  'A timer is set by what still ran when close returned': {
    foundBy: 'leaves no timer behind once it is closed, also none that keeps no process alive',
    change: ({ close }) => ({
      async close() {
        await close();
        setImmediate(() => setTimeout(() => {}, 1_000).unref());
      },
    }),
  },
  'One timer of a module goes on after the last close': {
    foundBy: 'leaves no timer behind once it is closed, also none that keeps no process alive',
    change({ close }) {
      timersOfModule[0] ??= setInterval(() => {}, 1_000).unref();
      return { close };
    },
  },
  'A pet that an operator deleted is not created again': {
    foundBy: 'creates a pet again that an operator has deleted',
    change: ofPets('add', (add, _, url) => async (pet, key) => {
      const name = `${url} ${JSON.stringify(key)}`;
      const creation = earlierCreations.get(name) ?? (await add(pet, key));
      if (key !== undefined && creation !== null) earlierCreations.set(name, { ...creation, created: false });
      return creation;
    }),
  },
  'The first fingerprint of an idempotency key stays that of a pet which takes its place': {
    foundBy: 'creates a pet again that an operator has deleted',
    change: ofPets('add', (add, { archive }) => {
      const first = new Map<string, string>();
      return async (pet, key) => {
        const creation = await add(pet, key);
        if (key === undefined) return creation;
        const { fingerprint } = key;
        if (!first.has(key.key)) first.set(key.key, fingerprint);
        if (creation !== null || first.get(key.key) !== fingerprint) return creation;
        const stored = (await archive.read(0n, 1_000)).find(({ idempotency }) => idempotency?.key === key.key);
        return stored ? { pet: stored, created: false } : null;
      };
    }),
  },
  'A pet that has the id of a new one is taken for it if the same storage has stored it': {
    foundBy: 'keeps each pet that it acknowledges while it is open and its counter of ids is set back',
    change(storage, url) {
      const own: bigint[] = [];
      const add: Change = ofPets('add', (right) => async (pet, key) => {
        const id = placeAt(url).isCounterBack ? own.shift() : undefined;
        if (id !== undefined) return { pet: { id, ...pet }, created: true };
        const creation = await right(pet, key);
        if (creation) own.push(creation.pet.id);
        return creation;
      });
      return add(storage, url);
    },
  },
  'A pet that was found is found for ever': {
    foundBy: 'creates a pet again that an operator has deleted',
    change(storage, url) {
      const found = new Map<bigint, Pet>();
      const find: Change = ofPets('find', (right) => async (id) => {
        const pet = found.get(id) ?? (await right(id));
        if (pet) found.set(id, pet);
        return pet;
      });
      return find(storage, url);
    },
  },
  'A storage works by the session of another': {
    foundBy: 'says that settings must change if its place is misconfigured',
    sharesSessions: true,
  },
  'A counter that is behind overwrites a pet': {
    foundBy: 'never overwrites a pet if its counter of ids is behind, as after a restored backup',
    change: ofPets('add', (add, { place }, url) => async (pet, key) => {
      if (!placeAt(url).isCounterBack) return add(pet, key);
      await place.changePet(1n, { name: pet.name });
      return { pet: { id: 1n, ...pet }, created: true };
    }),
  },
  'The parts of an index that a list has once seen are taken for all': {
    foundBy: 'show a pet that the other has acknowledged at once',
    change: ofPets('list', (list) => {
      const partOf = ({ id, status }: Pet) => `${status} ${id / 64n}`;
      let seen: Set<string> | undefined;
      return async (selection) => {
        seen ??= new Set((await list({ after: 0n, limit: 5_000 })).map(partOf));
        return (await list(selection)).filter((pet) => seen?.has(partOf(pet)));
      };
    }),
  },
  'Reads go to any replica': {
    foundBy: 'show a pet that the other has acknowledged at once',
    behind: 'a replica that lags',
    change: ofPets('find', (find, { archive }, url) => async (id) => {
      const pet = await find(id);
      if (!isBehind(url)) return pet;
      const [stored] = await archive.read(id - 1n, 1);
      return stored !== undefined && Date.now() - stored.createdAt < 100 ? null : pet;
    }),
  },
  'Creations wait in a queue, also when their calls have failed': {
    foundBy: 'begins no write after its call has failed, in any outage, and creates again within a second of a wait',
    change: ofPets('add', (add) => {
      let queue: Promise<unknown> = Promise.resolve();
      return (...given) => {
        const work = () => add(...given);
        const created = queue.then(work, work);
        queue = created;
        return withTimeout(created, BUDGET.call).catch((failure) => {
          throw DomainError.is(failure) ? failure : unavailable(failure);
        });
      };
    }),
  },
  'A creation whose connection broke is tried again in the background': {
    foundBy: 'begins no write after its call has failed, in any outage, and creates again within a second of a wait',
    change: ofPets('add', (add) => (...given) => {
      const begin = performance.now();
      const created = add(...given);
      async function tryAgain(): Promise<void> {
        await sleep(100);
        await add(...given).catch(tryAgain);
      }
      // A call that waits for a lock fails later.
      created.catch(() => {
        if (performance.now() - begin < 1_200) tryAgain();
      });
      return created;
    }),
  },
  'An empty page of the engine is taken for the end': {
    foundBy: 'lists the largest pets, more than any engine sends at once, and one with another status behind them',
    change: ofPets('list', (list) => async ({ status, after, limit }) => {
      // The engine reads a page, and then leaves out those with another status.
      const page = await list({ after, limit: 101 });
      const found = page.filter((pet) => status === undefined || pet.status === status);
      return found.length === 0 ? [] : list({ status, after, limit });
    }),
  },
  'A batch is repeated if its COMMIT gets no response': {
    foundBy: 'keeps all that it acknowledged, one pet for each idempotency key, through long and short outages',
    change: ofPets('add', (add, { ready }) => {
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
      const { signal } = new AbortController();
      return (...given) => addInBatch(given, { deadline: performance.now() + BUDGET.call, signal });
    }),
  },
  'A new connection makes a lost place anew': {
    foundBy: 'notices that its place was lost while it runs, and works again once it is back',
    change(storage, url) {
      const another = operationsOn(newPlace()).pets;
      let isNew = false;
      // Whichever call is the first to notice that its connection is gone.
      async function noticed<R>(call: Promise<R>): Promise<R> {
        return call.catch((error) => {
          isNew ||= placeAt(url).isLost && error.cause?.message !== LOST;
          throw error;
        });
      }
      const { pets, keys } = mapPorts(
        storage,
        (method) =>
          (...given) =>
            noticed(method(...given)),
      );
      const add: typeof pets.add = (...given) => (isNew ? another : pets).add(...given);
      return { pets: { ...pets, add }, keys, ready: () => noticed(storage.ready()) };
    },
  },
  'A new connection makes an empty place where one was lost, and then says that it is another': {
    foundBy: 'notices that its place was lost while it runs, and works again once it is back',
    message: /what is wrong/,
    change: makingAnew(() => true),
  },
  'A new connection makes an empty place where one was lost, unless the one before has met the loss': {
    foundBy: 'notices that its place was lost while it runs, and works again once it is back',
    message: /what is wrong/,
    change: makingAnew((hasMet) => !hasMet),
  },
  'A place that was dropped and created anew is taken for the same': {
    foundBy: 'notices that its place was lost while it runs, and works again once it is back',
    change: createdAnew,
  },
  'Only ready notices that a place was dropped and created anew': {
    foundBy: 'notices that its place was lost while it runs, and works again once it is back',
    change: (storage, url) => ({ ...createdAnew(storage, url), ready: storage.ready }),
  },
  'A storage is ready before it can create pets again, after a loss': {
    foundBy: 'notices that its place was lost while it runs, and works again once it is back',
    message: /taken away: .* unavailable/,
    change: failingAfter(({ isLost }) => isLost),
  },
  'A restored pet whose id is stored is an error': {
    foundBy: 'leaves out pets whose id or idempotency key is stored',
    change: ofArchive('restore', (restore, { pets }) => async (stored) => {
      for (const { id } of stored) if ((await pets.find(id)) !== null) throw new Error('violates the primary key');
      await restore(stored);
    }),
  },
  'A use is recorded by writing the whole record of the API key': {
    foundBy: 'keeps a revocation and a use, whichever begins first, and whenever the other begins',
    change: wholeUses,
  },
  'A use writes the whole record of the API key, under a lock of the process': {
    foundBy: 'keep each use of an API key in one, and each revocation in the other',
    change: both(
      wholeUses,
      ofKeys('recordUse', (record) => (id, at) => locked(id, () => record(id, at))),
      ofKeys('revoke', (revoke) => (id, at) => locked(id, () => revoke(id, at))),
    ),
  },
  'A revocation by one storage writes back the use that it has read': {
    foundBy: 'keep each use of an API key by one, and each revocation by the other',
    change: writingBackUses,
  },
  'Each error of the methods of API keys is an outage': {
    foundBy: 'throws the error of a defect unchanged, for each method of API keys, and works afterwards',
    change: ofKeys('recordUse', (record) => async (...given) => {
      await record(...given).catch((failure) => {
        throw unavailable(failure);
      });
    }),
  },
  'The use of an unknown API key is that of a later record': {
    foundBy: 'replaces the last use, also by an earlier one, and ignores that of an unknown key',
    change: (storage, url) => {
      const uses = new Map<string, number>();
      const record = ofKeys('recordUse', (recordUse) => (id, at) => {
        uses.set(id, at);
        return recordUse(id, at);
      });
      const add = ofKeys('add', (right) => (key) => right({ ...key, lastUsedAt: uses.get(key.id) ?? key.lastUsedAt }));
      return both(record, add)(storage, url);
    },
  },
  'An API key is written in the background until it is stored': {
    foundBy: 'begins no write after its call has failed, in any outage, and creates again within a second of a wait',
    change: ofKeys('add', (add) => (key) => {
      const addUntilStored = (): Promise<void> => add(key).catch(() => sleep(100).then(addUntilStored));
      return withTimeout(addUntilStored(), BUDGET.call).catch((failure) => {
        throw unavailable(failure);
      });
    }),
  },
  'A wrong limit of a page is an outage': {
    foundBy: 'throws the error of a defect unchanged, and not as an outage',
    change: ofPets('list', (list) => async (selection) => {
      if (typeof selection.limit === 'string') throw unavailable(new Error('TypeMismatch'));
      return list(selection);
    }),
  },
  'A category beyond an int64 is cut to 64 bits': {
    foundBy: 'throws the error of a defect unchanged, and not as an outage',
    change: ofPets('add', (add) => async (pet, key) => {
      const { categoryId } = pet;
      return add(typeof categoryId === 'bigint' ? { ...pet, categoryId: BigInt.asIntN(64, categoryId) } : pet, key);
    }),
  },
  'A long holder of an idempotency key is cut': {
    foundBy: 'throws the error of a defect unchanged, and not as an outage',
    change: idempotency(({ holder }) => ({ holder: holder.slice(0, 100) })),
  },
  'A long holder of an API key is cut': {
    foundBy: 'throws the error of a defect unchanged, for each method of API keys, and works afterwards',
    change: ofKeys('add', (add) => async (key) => add({ ...key, holder: key.holder.slice(0, 100) })),
  },
  'Each error of a search is an outage': {
    foundBy: 'throws the error of a defect unchanged, and not as an outage',
    change: ofPets('find', (find) => async (id) => {
      const found = await find(id).catch((failure) => {
        throw unavailable(failure);
      });
      return found;
    }),
  },
  'A creation of several requests goes on after its call has failed': {
    foundBy: 'begins no write once its call has failed between two responses, and leaves no half of a write',
    change: ofPets('add', goingOn),
  },
  'The creation of an API key goes on after its call has failed': {
    foundBy: 'begins no write once its call has failed between two responses, and leaves no half of a write',
    change: ofKeys('add', goingOn),
  },
  'A creation that fails between two requests leaves its pet without its idempotency key': {
    foundBy: 'begins no write once its call has failed between two responses, and leaves no half of a write',
    change: ofPets('add', (add, { archive, place, ready }) => async (pet, key) => {
      const end = performance.now() + BUDGET.call;
      const stored = key && (await archive.read(0n, 1_000)).some(({ idempotency }) => idempotency?.key === key.key);
      if (key === undefined || stored) return add(pet, key);
      const creation = await add(pet);
      await ready();
      if (performance.now() > end) throw unavailable();
      if (creation) await place.changePet(creation.pet.id, { idempotency: key });
      return creation;
    }),
  },
  'Each repetition completes an interrupted creation under a new id': {
    foundBy: 'keeps all that it acknowledged, one pet for each idempotency key, through long and short outages',
    change: ofPets('add', (add, { archive }) => {
      const interrupted = new Set<string>();
      return async (pet, key) => {
        if (key === undefined) return add(pet);
        if (interrupted.has(key.key)) {
          const stored = await archive.read(0n, 1_000);
          if (!stored.some(({ idempotency }) => idempotency?.key === key.key)) return add(pet);
        }
        return add(pet, key).catch((failure) => {
          interrupted.add(key.key);
          throw failure;
        });
      };
    }),
  },
  'A restore overwrites a stored pet': {
    foundBy: 'leaves out pets whose id or idempotency key is stored',
    change: ofArchive('restore', (restore, { place }) => async (stored) => {
      await restore(stored);
      for (const { id, name } of stored) await place.changePet(id, { name });
    }),
  },
  'The archive reads pets in the order of their creation': {
    foundBy: 'restores any pets as they were, 1,000 in a call',
    change: ofArchive('read', (read) => async (...given) => {
      const page = await read(...given);
      return page.toSorted((one, other) => one.createdAt - other.createdAt);
    }),
  },
  'A repetition stores the pet again, with the time of now': {
    foundBy: 'reads pets with the idempotency keys and the times of their creation, page by page',
    change: ofPets('add', (add, { place }) => async (...given) => {
      const creation = await add(...given);
      if (creation?.created === false) await place.changePet(creation.pet.id, { createdAt: Date.now() });
      return creation;
    }),
  },
  'An empty holder is stored as a mark': {
    foundBy: 'distinguishes keys and holders that differ in one character',
    change: idempotency(({ holder }) => ({ holder: holder || '-' })),
  },
  'The archive reads an empty holder as a mark': {
    foundBy: 'reads pets with the idempotency keys and the times of their creation, page by page',
    change: ofArchive('read', (read) => async (...given) => {
      const page = await read(...given);
      return page.map(({ idempotency, ...pet }) =>
        idempotency ? { ...pet, idempotency: { ...idempotency, holder: idempotency.holder || '-' } } : pet,
      );
    }),
  },
  'An idempotency key is looked up, then stored, under a lock of the process': {
    foundBy: 'create one pet for each of 50 idempotency keys that both are given at once',
    change: ofPets('add', (add, { archive, place }, url) => (pet, key) => {
      if (key === undefined) return add(pet);
      return locked(`${url} ${key.key}`, async () => {
        const stored = await archive.read(0n, 1_000);
        if (stored.some(({ idempotency }) => idempotency?.key === key.key)) return add(pet, key);
        await sleep(100);
        const creation = await add(pet);
        if (creation) await place.changePet(creation.pet.id, { idempotency: key });
        return creation;
      });
    }),
  },
  'Items that the engine did not process are left out of a restore': {
    foundBy: 'restores any pets as they were, 1,000 in a call',
    behind: 'an engine under load',
    change: ofArchive('restore', (restore, _, url) => (stored) => {
      return restore(isBehind(url) ? stored.filter((_, index) => index % 10 < 7) : stored);
    }),
  },
  'A page of the archive lacks what the engine has cut off one partition': {
    foundBy: 'restores any pets as they were, 1,000 in a call',
    change: ofArchive('read', (_, { archive }) => async (after, limit) => {
      return (await firstOfPartitions(archive, after)).slice(0, limit);
    }),
  },
  'A list by status lacks what the engine has cut off one partition': {
    foundBy: 'restores any pets as they were, 1,000 in a call',
    change: ofPets('list', (list, { archive }) => async (selection) => {
      const { status, after, limit } = selection;
      if (status === undefined) return list(selection);
      const found = (await firstOfPartitions(archive, after)).filter((pet) => pet.status === status);
      return found.slice(0, limit).map(({ createdAt: _, idempotency: __, ...pet }) => pet);
    }),
  },
  'Pets are restored before the records that find them by their keys': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated, and each pet has its key meanwhile',
    change(storage, url) {
      const keys = new Map<string, Idempotency>();
      const nameIn = ({ id, name }: Pet) => `${id} ${name}`;
      const changed = both(
        ofArchive('restore', (restore, { place, ready }) => async (stored) => {
          await restore(stored.map(({ idempotency: _, ...pet }) => pet));
          await ready();
          for (const { idempotency, ...pet } of stored) {
            if (idempotency === undefined) continue;
            keys.set(nameIn(pet), idempotency);
            if ((await storage.pets.find(pet.id))?.name === pet.name) await place.changePet(pet.id, { idempotency });
          }
        }),
        ofArchive('read', (read) => async (after, limit) => {
          return (await read(after, limit)).map((pet) => {
            const idempotency = pet.idempotency ?? keys.get(nameIn(pet));
            return { ...pet, ...(idempotency && { idempotency }) };
          });
        }),
      );
      return changed(storage, url);
    },
  },
  'The counter of ids is raised after the pets are restored': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated, and each pet has its key meanwhile',
    change: raisingLast,
  },
  'Creations skip taken ids instead of those below an interrupted restore': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated, and each pet has its key meanwhile',
    message: /: created after \d+ chunks/,
    change: both(
      raisingLast,
      ofArchive('lastId', (lastId, { archive }) => async () => {
        const last = await lastId();
        return (await archive.read(last, 1_000)).at(-1)?.id ?? last;
      }),
    ),
  },
  'A restore resolves although some pets have failed': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated, and each pet has its key meanwhile',
    change: ofArchive('restore', (restore) => async (stored) => {
      for (let done = 0; done < stored.length; done += 50) await restore(stored.slice(done, done + 50)).catch(() => {});
    }),
  },
  'A restore raises the counter of ids if the highest is greater as a text': {
    foundBy: 'assigns ids above the highest of a call, however far it is above the others',
    change: ofArchive('restore', (restore, { archive, place }) => async (stored) => {
      const last = await archive.lastId();
      await restore(stored);
      if (`${stored.at(-1)?.id}` < `${last}`) await place.setCounter(last);
    }),
  },
  'Ids go on after the highest that is stored, and a restore raises no counter': {
    foundBy: 'assigns ids above the highest of a call, however far it is above the others',
    change: afterHighest,
  },
  'The id of a deleted pet that another storage has assigned is assigned again': {
    foundBy: 'assign no id twice, and each of them ascending ids',
    message: /the id of a pet that was deleted/,
    change: afterHighest,
  },
  'A response that the engine has cut at 1,024 records is taken for an empty page': {
    foundBy: 'reads exactly the first 1,000 of 2,000 pets with consecutive ids, and the others',
    change: ofArchive('read', (read) => async (after, limit) => {
      // The engine is asked for a range of ids.
      const range = (await read(after, 1_025)).filter(({ id }) => id <= after + 1_025n);
      return range.length > 1_024 ? [] : read(after, limit);
    }),
  },
  'The pets that were found are kept for ever': {
    foundBy: 'keep nothing of calls that have ended',
    change(storage, url) {
      const found: unknown[] = [];
      const find: Change = ofPets('find', (right) => async (id) => {
        found.push(await right(id));
        return found.at(-1) as Pet | null;
      });
      return find(storage, url);
    },
  },
  'An idempotency key stands for an id that is taken for ever': {
    foundBy: 'creates again within 3 calls if its counter of ids is 4,000 behind',
    change: ofPets('add', (add, _, url) => async (pet, key) => {
      if (key && placeAt(url).isCounterBack) throw unavailable(new Error('the id is taken'));
      return add(pet, key);
    }),
  },
  'A counter of ids that is behind goes on by 400 for each call': {
    foundBy: 'creates again within 3 calls if its counter of ids is 4,000 behind',
    change(storage, url) {
      let next = 0n;
      const add: Change = ofPets('add', (right, { archive }) => async (...given) => {
        const [last] = placeAt(url).isCounterBack ? (await archive.read(0n, 5_000)).slice(-1) : [];
        next += 400n;
        if (last && next <= last.id) throw unavailable(new Error('the id is taken'));
        return right(...given);
      });
      return add(storage, url);
    },
  },
  'A pet is left out of a restore if a pet before it has its idempotency key': {
    foundBy: 'leaves out pets whose id or idempotency key is stored',
    change: ofArchive('restore', (restore) => (stored) => {
      const keys = stored.map(({ idempotency }) => idempotency?.key);
      return restore(stored.filter((_, index) => keys[index] === undefined || keys.indexOf(keys[index]) === index));
    }),
  },
  'A second record with the same digest resets the last use': {
    foundBy: 'ignores a second record with the same digest',
    change: ofKeys('add', (add, { place }) => async (key) => {
      await add(key);
      await place.changeKey(key.id, { lastUsedAt: key.lastUsedAt });
    }),
  },
  'A page of API keys begins one late after an id that ends with f': {
    foundBy: 'lists each of 1,100 records once, in order of id over all pages of any size',
    change: ofKeys('list', (list) => async ({ after, limit }) => {
      if (!after.endsWith('f')) return list({ after, limit });
      return (await list({ after, limit: limit + 1 })).slice(1);
    }),
  },
  'API keys behind the first 1,024 that the engine returns are in no list': {
    foundBy: 'lists each of 1,100 records once, in order of id over all pages of any size',
    change: ofKeys('list', (list) => async ({ after, limit }) => {
      const all = await list({ after: '', limit: 1_024 });
      return all.filter(({ id }) => id > after).slice(0, limit);
    }),
  },
  'API keys are listed in the order of their ids as doubles': {
    foundBy: 'lists each of 1,100 records once, in order of id over all pages of any size',
    change: ofKeys('list', (list) => async ({ after, limit }) => {
      const number = (id: string) => Number(`0x${id}`);
      const all = await list({ after: '', limit: 5_000 });
      return all.filter(({ id }) => after === '' || number(id) > number(after)).slice(0, limit);
    }),
  },
  'A revocation writes back the use that it has read': {
    foundBy: 'keeps a revocation and a use, whichever begins first, and whenever the other begins',
    change: writingBackUses,
  },
  "A revocation that can't be read counts as none in a list": {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever its connection breaks',
    change: ofKeys('list', (list, { ready }) => async (selection) => {
      const page = await list(selection);
      const isRead = await ready().then(
        () => true,
        () => false,
      );
      return page.map((key) => (isRead ? key : { ...key, revokedAt: null }));
    }),
  },
  "A revocation that can't be read counts as none in a search": {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever its connection breaks',
    change: ofKeys('find', (find, { ready }) => async (digest) => {
      const key = await find(digest);
      return ready().then(
        () => key,
        () => key && { ...key, revokedAt: null },
      );
    }),
  },
  ...Object.fromEntries(
    Object.entries({
      'A creation': ofPets('add', (add, _, url) => (...given) => {
        return hedged(add(...given), () => openStorage(url).pets.add(...given));
      }),
      'A use of an API key': ofKeys('recordUse', (record, _, url) => (...given) => {
        return hedged(record(...given), () => openStorage(url).keys.recordUse(...given));
      }),
    }).map(([name, change]): [string, Bug] => [
      `${name} is repeated on another connection if the first is slow`,
      {
        foundBy: 'keeps what it acknowledged if requests of an earlier connection arrive later than those of the next',
        change,
      },
    ]),
  ),
  'A revocation is written without a condition': {
    foundBy: 'agree on the time of a revocation that both are given at once with different times',
    change: ofKeys('revoke', (revoke, { keys }) => async (id, at) => {
      const [read] = await keys.list({ after: idBefore(id), limit: 1 });
      const revoked = await revoke(id, at);
      return read?.id === id && read.revokedAt === null && revoked ? { ...revoked, revokedAt: at } : revoked;
    }),
  },
  'A counter of ids is that of the storage which assigned the last': {
    foundBy: 'assign no id twice, and each of them ascending ids',
    change(storage, url) {
      let last = 0n;
      const changed = both(
        ofPets('add', (add) => async (...given) => {
          const creation = await add(...given);
          last = creation?.pet.id ?? last;
          return creation;
        }),
        ofArchive('lastId', () => async () => last - 1n),
      );
      return changed(storage, url);
    },
  },
  'Creations at once whose id is taken store a pet each': {
    foundBy: 'never overwrites a pet if its counter of ids is behind, as after a restored backup',
    message: /pets of one idempotency key/,
    change: ofPets('add', (add, _, url) => {
      const inFlight = new Set<string>();
      return (pet, key) => {
        const name = key?.key ?? '';
        const isFirst = !inFlight.has(name);
        inFlight.add(name);
        return add(pet, isFirst || !placeAt(url).isCounterBack ? key : undefined).finally(() => inFlight.delete(name));
      };
    }),
  },
  'A defect fails the calls beside it as an outage': {
    foundBy: 'assigns no id after the last one, 2^53 - 1, and repeats none',
    message: /unavailable/,
    change(storage, url) {
      let defects = 0;
      const changed = both(
        ofPets('add', (add) => (...given) => {
          return add(...given).catch((failure) => {
            defects += 1;
            throw failure;
          });
        }),
        ofPets('find', (find) => async (id) => {
          const before = defects;
          await storage.ready();
          const found = await find(id);
          if (defects > before) throw unavailable();
          return found;
        }),
      );
      return changed(storage, url);
    },
  },
  'An API key is listed only if its record was new': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever its connection breaks',
    change(storage, url) {
      const listed = new Set<string>();
      const add = ofKeys('add', (add, { keys, ready }) => async (key) => {
        if ((await keys.find(key.digest)) !== null) return;
        await add(key);
        await ready();
        listed.add(key.id);
      });
      const list = ofKeys('list', (list) => async (selection) => {
        const page = await list(selection);
        return page.filter(({ id }) => listed.has(id));
      });
      return both(add, list)(storage, url);
    },
  },
  'A list lacks the pets of a partition that is away': {
    foundBy: PARTIAL,
    message: /^AssertionError: a partition: pets.list: /,
    change: ofPets('list', (list, _, url) => async (selection) => {
      const place = placeAt(url);
      if (!place.isPartAway) return list(selection);
      return (await operationsOn(place).pets.list(selection)).filter(({ id }) => id % 3n > 0n);
    }),
  },
  'A pet of a partition that is away is not found': {
    foundBy: PARTIAL,
    message: /^AssertionError: a partition: pets.find/,
    change: ofPets('find', (find, _, url) => async (id) => (placeAt(url).isPartAway ? null : find(id))),
  },
  'A storage is ready while a partition is away': {
    foundBy: PARTIAL,
    message: /`ready` fails if another call is unavailable/,
    change: ({ ready }, url) => ({ ready: async () => (placeAt(url).isPartAway ? undefined : ready()) }),
  },
  'A storage is ready before it can create pets again, after a part was away': {
    foundBy: PARTIAL,
    message: /a partition: pets.add: .* unavailable/,
    change: failingAfter(({ isPartAway }) => isPartAway),
  },
  'A place is on one node of three': {
    foundBy: PARTIAL,
    message: /a node of three: while others take over: .* unavailable/,
    change: (storage, url) =>
      beforeEach(storage, async () => {
        if (placeAt(url).isNodeAway) throw unavailable(new Error('no replica'));
      }),
  },
  'A storage begins with one node of three': {
    foundBy: PARTIAL,
    message: /a node of three: while others take over, opened then: .* unavailable/,
    change(storage, url) {
      let knowsNodes: boolean | undefined;
      const unlessUnknown = async () => {
        knowsNodes ??= !placeAt(url).isNodeAway;
        if (!knowsNodes) throw unavailable(new Error('no node responds'));
      };
      return beforeEach(storage, unlessUnknown);
    },
  },
  'Pets and API keys are in the memory of one node': {
    foundBy: PARTIAL,
    message: /a node of three: while others take over: pets/,
    change: elsewhere(isTakenOver),
  },
  'A node that is back replaces what others have stored meanwhile': {
    foundBy: PARTIAL,
    message: /a node of three: pets/,
    change: elsewhere(isTakenOver, ({ pets, keys, claims, lastId }) => {
      return { pets: [...pets], keys: [...keys], claims: new Map(claims), lastId };
    }),
  },
  ...Object.fromEntries(
    (['pet', 'API key'] as const).map((name): [string, Bug] => [
      `A search for ${name === 'pet' ? 'a pet' : 'an API key'} joins one that was sent before`,
      {
        foundBy:
          'show what the other has acknowledged to each read that begins then, beside the same read still in flight',
        change: name === 'pet' ? ofPets('find', joined) : ofKeys('find', joined),
      },
    ]),
  ),
  'The counter of ids is raised if the new one is greater as a text': {
    foundBy: 'skips the ids up to one, and is never set back',
    change: ofArchive('skipIds', (skipIds, { archive }) => async (to) => {
      if (`${to}` > `${await archive.lastId()}`) await skipIds(to);
    }),
  },
  'The idempotency key of a pet whose id is stored is restored': {
    foundBy: 'leaves out pets whose id or idempotency key is stored',
    change(storage, url) {
      const claimed = new Set<string>();
      const changed = both(
        ofArchive('restore', (restore) => (stored) => {
          for (const { idempotency } of stored) if (idempotency) claimed.add(idempotency.key + idempotency.fingerprint);
          return restore(stored);
        }),
        ofPets('add', (add) => async (pet, key) => {
          const another = [...claimed].some((claim) => claim.startsWith(key?.key ?? ' '));
          return key && another && !claimed.has(key.key + key.fingerprint) ? null : add(pet, key);
        }),
      );
      return changed(storage, url);
    },
  },
  'A creation whose id is taken stores no idempotency key': {
    foundBy: 'never overwrites a pet if its counter of ids is behind, as after a restored backup',
    change: ofPets('add', (add, _, url) => (pet, key) => add(pet, placeAt(url).isCounterBack ? undefined : key)),
  },
  'The counter of ids begins anew at its end': {
    foundBy: 'assigns no id after the last one, 2^53 - 1, and repeats none',
    change: ofPets('add', (add, { archive }) => async (pet, key) => {
      if ((await archive.lastId()) < LIMITS.id.maxAssigned) return add(pet, key);
      return { pet: { id: 1n, ...pet }, created: true };
    }),
  },
  'An exhausted counter of ids is an outage': {
    foundBy: 'assigns no id after the last one, 2^53 - 1, and repeats none',
    change: ofPets('add', (add) => (...given) => {
      return add(...given).catch((failure) => {
        throw unavailable(failure);
      });
    }),
  },
};

/** Opens a copy of the storage at the place of a URL, also in another process. */
export function openCopy({ url, bug }: { readonly url: string; readonly bug: string }): CopiedStorage {
  const { change, ...options } = BUGS[bug] ?? {};
  const storage = openStorage(url, options);
  return { ...storage, ...change?.(storage, url) };
}
