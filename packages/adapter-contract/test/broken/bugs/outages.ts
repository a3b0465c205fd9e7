import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET, withTimeout } from '@animal-store/adapter-kit';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, type StoredPet } from '@animal-store/domain/ports';
import { type CopiedStorage, openStorage } from '../adapter.ts';
import { type Bug, type Bugs, type Change, CREDENTIALS, locked, ofKeys, ofPets, unavailable } from './bug.ts';

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

/** Bugs of calls while a place is unavailable, and afterwards. */
export const OUTAGE_BUGS: Bugs = {
  ...Object.fromEntries(
    Object.entries({
      pet: ofPets('find', lastKnown),
      'page of pets': ofPets('list', lastKnown),
      'API key': ofKeys('find', lastKnown),
      'page of API keys': ofKeys('list', lastKnown),
    }).map(([name, change]): [string, Bug] => [
      `The last known ${name} is returned while the storage is unavailable`,
      {
        foundBy: 'is right or unavailable in each call, and works again with all that it acknowledged',
        message: /Error: cut: that is impossible: /,
        change,
      },
    ]),
  ),
  'The cause of an outage has the credentials in Base64': {
    foundBy: 'is right or unavailable in each call, and works again with all that it acknowledged',
    message: /a secret in /,
    change: ofPets('find', (find) => (id) => {
      return find(id).catch((failure) => {
        if (!DomainError.is(failure)) throw failure;
        throw unavailable(new Error(`Basic ${Buffer.from(CREDENTIALS).toString('base64')}`));
      });
    }),
  },
  'The cause of an outage has the bytes of the login': {
    foundBy: 'is right or unavailable in each call, and works again with all that it acknowledged',
    message: /a secret in /,
    change: ofPets('find', (find) => (id) => {
      return find(id).catch((failure) => {
        if (!DomainError.is(failure)) throw failure;
        throw unavailable(Object.assign(new Error('no response'), { request: Buffer.from(`\u0001${CREDENTIALS}`) }));
      });
    }),
  },
  'Calls fail on the connections of a pool that an outage has broken, although it is ready': {
    foundBy: 'is right or unavailable in each call, and works again with all that it acknowledged',
    change: ofKeys('add', (add) => {
      let broken = 0;
      return async (key) => {
        if (broken > 0) {
          broken -= 1;
          // Nothing is sent on them.
          await sleep(1_500);
          throw unavailable();
        }
        await add(key).catch((failure) => {
          broken = 5;
          throw failure;
        });
      };
    }),
  },
  'A broken connection is taken for a wrong host in the settings': {
    foundBy: 'is right or unavailable in each call, and works again with all that it acknowledged',
    message: /although the outage will pass/,
    change: ({ ready }) => ({
      ready: () =>
        ready().catch(() => {
          throw unavailable(new StorageMisconfigured('check the host'));
        }),
    }),
  },
  'A connection that stays silent is never replaced': {
    foundBy: 'is right or unavailable in each call, and works again with all that it acknowledged',
    outage: 'silent',
    replacesSilentConnections: false,
  },
  'A call that had no response is repeated, for 4.4 seconds in all': {
    foundBy: 'is right or unavailable in each call, and works again with all that it acknowledged',
    outage: 'slow',
    change: ofPets('find', (find) => (id) => find(id).catch(() => find(id))),
  },
  'A counter of ids that has the wanted value after a lost response counts as raised by this storage': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever connections break',
    message: /the id \d+ was that of /,
    change(storage, url) {
      const { archive, place } = storage;
      const own = crypto.randomUUID();
      async function reserve(): Promise<bigint> {
        const last = await archive.lastId();
        const isOwn = await place
          .raiseCounter(last, last + 1n)
          .catch(async () => (await archive.lastId()) === last + 1n);
        return isOwn ? last + 1n : reserve();
      }
      const add: Change = ofPets('add', () => async (pet, idempotency) => {
        const isEarlier = ({ idempotency: its }: StoredPet) => idempotency && its?.key === idempotency.key;
        const earlier = (await archive.read(0n, 5_000)).find(isEarlier);
        if (earlier) return { pet: { id: earlier.id, ...pet }, created: false };
        const id = await locked(own, reserve);
        await archive.restore([{ id, ...pet, createdAt: Date.now(), ...(idempotency && { idempotency }) }]);
        return { pet: { id, ...pet }, created: true };
      });
      return add(storage, url);
    },
  },
  'A creation without a key is repeated when a connection breaks': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever connections break',
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
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever connections break',
    message: /is stored twice/,
    change: ofPets('add', (add, { ready }) => async (...given) => {
      for (let requests = 1; requests < 10; requests += 1) await ready();
      return add(...given).catch(() => add(...given));
    }),
  },
  'A creation without a key is repeated on another open connection': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever connections break',
    message: /is stored twice/,
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
    foundBy: 'is right or unavailable in each call, and does no write twice, whichever response comes late',
    message: /is stored twice/,
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
  'Creations wait in a queue, also when their calls have failed': {
    foundBy: 'writes nothing after a call has failed',
    change: ofPets('add', (add) => {
      let queue: Promise<unknown> = Promise.resolve();
      return (...given) => {
        const work = () => add(...given);
        const created = queue.then(work, work);
        queue = created;
        return withTimeout(created, BUDGET.call).catch((failure) => {
          throw unavailable(failure);
        });
      };
    }),
  },
  'A creation whose connection broke is tried again in the background': {
    foundBy: 'writes nothing after a call has failed',
    change: ofPets('add', (add) => (...given) => {
      const begin = performance.now();
      const created = add(...given);
      async function tryAgain(): Promise<void> {
        await sleep(100);
        if (performance.now() < begin + 10_000) await add(...given).catch(tryAgain);
      }
      // A call that waits for a lock fails later.
      created.catch(() => {
        if (performance.now() - begin < 1_200) tryAgain();
      });
      return created;
    }),
  },
  'A creation of several requests goes on after its call has failed': {
    foundBy: 'writes nothing after a call has failed between two responses, and leaves no half of a write',
    change: ofPets('add', goingOn),
  },
  'A creation for which others wait goes on after its call has failed': {
    foundBy: 'writes nothing after a call has failed between two responses, and leaves no half of a write',
    message: /each response after \d+ ms: that is impossible/,
    // A transaction that has locked a row, of which readers see nothing before its end.
    change(storage, url) {
      const { pathname } = new URL(url);
      const transaction: Change = ofPets('add', (add) => async (...given) => {
        const created = locked(pathname, async () => {
          for (let requests = 0; requests < 5; requests += 1) await storage.ready();
          return add(...given);
        });
        return withTimeout(created, BUDGET.call).catch((failure) => {
          throw unavailable(failure);
        });
      });
      return transaction(storage, url);
    },
  },
  'The creation of an API key goes on after its call has failed': {
    foundBy: 'writes nothing after a call has failed between two responses, and leaves no half of a write',
    change: ofKeys('add', goingOn),
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
};
