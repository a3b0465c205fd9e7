import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET, withTimeout } from '@animal-store/adapter-kit';
import { LIMITS, type Pet } from '@animal-store/domain';
import {
  ALL_PETS,
  type Creation,
  type Idempotency,
  type PetSelection,
  type StoredPet,
} from '@animal-store/domain/ports';
import { placeAt } from '../engine.ts';
import {
  type Bug,
  type Bugs,
  both,
  type Change,
  isBehind,
  ofArchive,
  ofKeys,
  ofPets,
  outage,
  unavailable,
} from './bug.ts';

/** Reads all pets, and makes a page of those in another order. */
const paged = (orderOf: (pet: Pet) => string): Change =>
  ofPets('list', (list) => async ({ after, limit, ...selection }) => {
    const all = await list({ ...selection, after: 0n, limit: 5_000 });
    const ordered = all.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
    const begin = ordered.findIndex(({ id }) => id > after);
    return begin < 0 ? [] : ordered.slice(begin, begin + limit);
  });

/** Calls of the same share one that is in flight. */
function joined<Given, R>(call: (given: Given) => Promise<R>): (given: Given) => Promise<R> {
  const inFlight = new Map<Given, Promise<R>>();
  return (given) => {
    const shared = inFlight.get(given) ?? call(given).finally(() => inFlight.delete(given));
    inFlight.set(given, shared);
    return shared;
  };
}

const earlierCreations = new Map<string, Creation>();

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

/** Gives a pet the id of a stored one, if the counter was set back. */
const overwriting = (isSo: (stored: StoredPet, key: Idempotency | undefined) => boolean): Change =>
  ofPets('add', (add, { archive, place }, url) => async (pet, key) => {
    const stored = placeAt(url).isCounterBack ? await archive.read(0n, 1_000) : [];
    const id = stored.find((each) => isSo(each, key))?.id;
    if (id === undefined) return add(pet, key);
    await place.changePet(id, { name: pet.name });
    return { pet: { id, ...pet }, created: true };
  });

/** Bugs of creating, finding and listing pets. */
export const PET_BUGS: Bugs = {
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
  'Each connection assigns ids of its own block': {
    foundBy: 'is right in any sequence of calls',
    change: ofPets('add', (add) => async (pet, key) => {
      const creation = await add(pet, key);
      return creation && { ...creation, pet: { ...creation.pet, id: (creation.pet.id + 1n) ^ 1n } };
    }),
  },
  'More than 200 creations with keys at once are rejected': {
    message: /1 at once take \d+ ms, 10 at once take \d+ ms, 100 at once take \d+ ms/,
    foundBy: 'serves a thousand calls at once, each with a key, an id and a page of its own',
    change: ofPets('add', (add) => atMost(200, add, (_, key) => key !== undefined)),
  },
  'Searches wait for each other, 5 ms each': {
    foundBy: 'serves a thousand calls at once, of each kind',
    change: ofPets('find', (find) => {
      let queue: Promise<unknown> = Promise.resolve();
      return (id) => {
        const found = queue.then(() => sleep(5)).then(() => find(id));
        queue = found.catch(() => {});
        return withTimeout(found, BUDGET.call).catch((failure) => {
          throw unavailable(failure);
        });
      };
    }),
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
  'Ids are padded to nine digits': {
    foundBy: 'lists restored pets in the order of their ids, whatever their number of digits',
    change: paged(({ id }) => String(id).padStart(9, '0')),
  },
  'A pet that an operator deleted is not created again': {
    foundBy: 'is right in any sequence of calls',
    change: ofPets('add', (add, _, url) => async (pet, key) => {
      const name = `${url} ${JSON.stringify(key)}`;
      const creation = earlierCreations.get(name) ?? (await add(pet, key));
      if (key !== undefined && creation !== null) earlierCreations.set(name, { ...creation, created: false });
      return creation;
    }),
  },
  'The first fingerprint of an idempotency key stays that of a pet which takes its place': {
    foundBy: 'is right in any sequence of calls',
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
    foundBy: 'is right in any sequence of calls',
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
  'Each creation beside a counter that was set back is a defect': {
    foundBy: 'is right in any sequence of calls',
    change: ofPets('add', (add, _, url) => async (...given) => {
      if (placeAt(url).isCounterBack) throw new TypeError('duplicate key');
      return add(...given);
    }),
  },
  'No creation beside a counter that was set back succeeds': {
    foundBy: 'is right in any sequence of calls',
    change: ofPets('add', (add, _, url) => async (...given) => {
      if (placeAt(url).isCounterBack) throw unavailable(new Error('duplicate key'));
      return add(...given);
    }),
  },
  'A pet that was found is found for ever': {
    foundBy: 'is right in any sequence of calls',
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
  'A counter that is behind overwrites a pet that has an idempotency key': {
    foundBy: 'is right in any sequence of calls',
    change: overwriting((stored, key) => stored.idempotency !== undefined && key === undefined),
  },
  'A creation with an idempotency key overwrites a pet, beside a counter that was set back': {
    foundBy: 'is right in any sequence of calls',
    change: overwriting((_, key) => key !== undefined),
  },
  'The parts of an index that a list has once seen are taken for all': {
    foundBy: 'is right in any sequence of calls',
    change: ofPets('list', (list) => {
      const partOf = ({ id, status }: Pet) => `${status} ${id / 64n}`;
      let seen: Set<string> | undefined;
      return async (selection) => {
        seen ??= new Set((await list({ ...ALL_PETS, after: 0n, limit: 5_000 })).map(partOf));
        return (await list(selection)).filter((pet) => seen?.has(partOf(pet)));
      };
    }),
  },
  'Reads go to any replica': {
    foundBy: 'assigns an id from 1 to 2^53 - 1, and returns any pet as it was given, code unit for code unit',
    behind: 'a replica that lags',
    change: ofPets('find', (find, { archive }, url) => async (id) => {
      const pet = await find(id);
      if (!isBehind(url)) return pet;
      const [stored] = await archive.read(id - 1n, 1);
      return stored !== undefined && Date.now() - stored.createdAt < 100 ? null : pet;
    }),
  },
  'An empty page of the engine is taken for the end': {
    foundBy: 'lists the largest pets, more than any engine sends at once, and one with another status behind them',
    change: ofPets('list', (list) => async ({ status, after, limit }) => {
      // The engine reads a page, and then leaves out those with another status.
      const page = await list({ ...ALL_PETS, after, limit: 101 });
      const found = page.filter((pet) => status === undefined || pet.status === status);
      return found.length === 0 ? [] : list({ status, after, limit });
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
  'Each error of a search is an outage': {
    foundBy: 'throws the error of a defect unchanged, and not as an outage',
    change: ofPets('find', (find) => async (id) => {
      const found = await find(id).catch((failure) => {
        throw outage(failure);
      });
      return found;
    }),
  },
  'A counter of ids that is behind goes on by 400 for each call, until one of them is free': {
    foundBy: 'creates again within 3 calls if its counter of ids is 4,000 behind',
    change(storage, url) {
      let next = 0n;
      const add: Change = ofPets('add', (right, { archive }) => async (...given) => {
        const block = placeAt(url).isCounterBack ? await archive.read(next, 400) : [];
        next += 400n;
        if (block.at(-1)?.id === next) throw unavailable(new Error('the ids are taken'));
        return right(...given);
      });
      return add(storage, url);
    },
  },
  'A counter of ids is that of the storage which assigned the last': {
    foundBy: 'is right in any sequence of calls',
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
  ...Object.fromEntries(
    (['pet', 'API key'] as const).map((name): [string, Bug] => [
      `A search for ${name === 'pet' ? 'a pet' : 'an API key'} joins one that was sent before`,
      {
        foundBy:
          name === 'pet'
            ? 'shows a pet to every read that begins after its acknowledgement, although others are in flight'
            : 'is right in any sequence of calls',
        change: name === 'pet' ? ofPets('find', joined) : ofKeys('find', joined),
      },
    ]),
  ),
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
        throw outage(failure);
      });
    }),
  },
};
