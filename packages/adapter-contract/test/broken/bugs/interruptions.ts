import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET, createBatches, withTimeout } from '@animal-store/adapter-kit';
import { DomainError } from '@animal-store/domain';
import { type PetRepository, StorageMisconfigured } from '@animal-store/domain/ports';
import { type CopiedStorage, openStorage } from '../adapter.ts';
import { placeAt } from '../engine.ts';
import {
  type Bug,
  type Bugs,
  both,
  CREDENTIALS,
  locked,
  ofArchive,
  ofKeys,
  ofPets,
  unavailable,
  withinCall,
} from './bug.ts';

/** Returns the last result of the same call if it fails. */
function lastKnown<Given, R>(call: (given: Given) => Promise<R>): (given: Given) => Promise<R> {
  const known = new Map<string, R>();
  return async (given) => {
    const name = Object.values(given as object).join();
    try {
      known.set(name, await call(given));
    } catch (failure) {
      if (!known.has(name)) throw failure;
    }
    return known.get(name) as R;
  };
}

/** A cause that has the login. */
const showing = (cause: Error): Bug => ({
  message: /a secret in /,
  change: ofPets('find', (find) => (id) => {
    return find(id).catch((failure) => {
      throw DomainError.is(failure) ? unavailable(cause) : failure;
    });
  }),
});

/** Makes several requests, and then the call. */
const goingOn =
  <Given extends unknown[], R>(call: (...given: Given) => Promise<R>, { ready }: CopiedStorage, requests = 3) =>
  async (...given: Given): Promise<R> => {
    for (let count = 0; count < requests; count += 1) await ready();
    return call(...given);
  };

/** Bugs of calls while a place is unavailable, and afterwards. */
export const INTERRUPTION_BUGS: Bugs = {
  'is right or unavailable in each call, and works again with all that it acknowledged': {
    'The last known page of pets is returned while the storage is unavailable': {
      message: /Error: cut: that is impossible: /,
      change: ofPets('list', lastKnown),
    },
    'A storage that was ready is ready for a second': {
      message: /ready: expected null not to be null/,
      change({ ready, close }) {
        let last = -Infinity;
        const ask = async () => {
          await ready();
          last = performance.now();
        };
        return {
          ready: async () => (performance.now() - last < 1_000 ? undefined : ask()),
          close() {
            last = -Infinity;
            return close();
          },
        };
      },
    },
    'The cause of an outage has the credentials in Base64': showing(
      new Error(`Basic ${Buffer.from(CREDENTIALS).toString('base64')}`),
    ),
    'The cause of an outage has the bytes of the login': showing(
      Object.assign(new Error('no response'), { request: Buffer.from(`\u0001${CREDENTIALS}`) }),
    ),
    'Calls fail on the connections of a pool that an outage has broken, although it is ready': ofKeys('add', (add) => {
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
    'A broken connection is taken for a wrong host in the settings': {
      message: /although the outage will pass/,
      change: ({ ready }) => ({
        ready: () =>
          ready().catch(() => {
            throw unavailable(new StorageMisconfigured('check the host'));
          }),
      }),
    },
    'A connection that is replaced stays open': {
      outage: 'silent',
      closesReplacedConnections: false,
      message: /replaced/,
    },
    'No search is made once one of them has timed out': ofPets('find', (find) => {
      let hasTimedOut = false;
      return async (id) => {
        if (hasTimedOut) throw unavailable();
        const begun = performance.now();
        return find(id).catch((failure) => {
          hasTimedOut ||= performance.now() - begun > BUDGET.call / 2;
          throw failure;
        });
      };
    }),
    'Each search waits for no response once one of them has timed out': (storage) => {
      let hasTimedOut = false;
      const waiting =
        <Given, R>(find: (given: Given) => Promise<R>) =>
        async (given: Given) => {
          const begun = performance.now();
          if (hasTimedOut) await sleep(BUDGET.call);
          return (hasTimedOut ? Promise.reject(unavailable()) : find(given)).catch((failure) => {
            hasTimedOut ||= performance.now() - begun > BUDGET.call / 2;
            throw failure;
          });
        };
      return both(ofPets('find', waiting), ofKeys('find', waiting))(storage, '');
    },
    'A connection that stays silent is never replaced': { outage: 'silent', replacesSilentConnections: false },
    'A call that had no response is repeated, for 4.4 seconds in all': {
      outage: 'slow',
      change: ofPets('find', (find) => (id) => find(id).catch(() => find(id))),
    },
  },
  'keeps all that it acknowledged if the interruption begins amid the writes of 20 callers': {
    'A batch is repeated if its COMMIT gets no response': ofPets('add', (add, { ready }) => {
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
      return (...given) => addInBatch(given, { deadline: performance.now() + BUDGET.call, hasEnded: false });
    }),
  },
  'writes nothing after a call has failed': {
    'A creation that waits for the end of a lock is acknowledged, and not stored': ofPets('add', (add, _, url) => {
      return async (...given) => {
        const begun = performance.now();
        const creation = await add(...given);
        const { lock, pets } = placeAt(url);
        const index = pets.findIndex(({ id }) => id === creation?.pet.id);
        if (lock && performance.now() - begun > 50) pets.splice(index, 1);
        return creation;
      };
    }),
    'Creations wait in a queue, also when their calls have failed': ofPets('add', (add) => {
      let queue: Promise<unknown> = Promise.resolve();
      return (...given) => {
        const work = () => add(...given);
        const created = queue.then(work, work);
        queue = created;
        return withinCall(created);
      };
    }),
  },
  'writes nothing after a call has failed between two responses, and leaves no half of a write': {
    'A creation of several requests goes on after its call has failed': ofPets('add', (add, storage) => {
      return (...given) => withinCall(goingOn(add, storage)(...given));
    }),
    'A creation for which others wait goes on after its call has failed': {
      message: /each response after \d+ ms: that is impossible/,
      // A transaction that has locked a row, of which readers see nothing before its end.
      change: ofPets('add', (add, storage, url) => (...given) => {
        return withinCall(locked(new URL(url).pathname, () => goingOn(add, storage, 5)(...given)));
      }),
    },
    'A creation that fails between two requests leaves its pet without its idempotency key': ofPets(
      'add',
      (add, { archive, place, ready }) =>
        async (pet, key) => {
          const end = performance.now() + BUDGET.call;
          const stored = key && (await archive.read(0n, 1_000)).some(({ idempotency }) => idempotency?.key === key.key);
          if (key === undefined || stored) return add(pet, key);
          const creation = await add(pet);
          await ready();
          if (performance.now() > end - 500) throw unavailable();
          if (creation) await place.changePet(creation.pet.id, { idempotency: key });
          return creation;
        },
    ),
  },
  'is right or unavailable in each call, and does no write twice, wherever connections break': {
    'A creation of ten requests is repeated if the last has no response': {
      message: /is stored twice/,
      change: ofPets('add', (add, storage) => async (...given) => {
        await goingOn(storage.ready, storage, 9)();
        return add(...given).catch(() => add(...given));
      }),
    },
    'A creation without a key is repeated on another open connection': {
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
    "A revocation that can't be read counts as none in a search": ofKeys(
      'find',
      (find, { ready }) =>
        async (digest) => {
          const key = await find(digest);
          return ready().then(
            () => key,
            () => key && { ...key, revokedAt: null },
          );
        },
    ),
  },
  'is right or unavailable in each call, and does no write twice, whichever response comes late': {
    'A late response is no response, and that of its repetition says that the id is taken': {
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
  },
  'keeps what it acknowledged if requests of an earlier connection arrive later than those of the next': {
    'A use of an API key is repeated on another connection if the first is slow': ofKeys(
      'recordUse',
      (record, _, url) => {
        return (...given) => {
          const first = record(...given);
          return withTimeout(first, 300).catch((failure) => {
            if (DomainError.is(failure)) throw failure;
            first.catch(() => {});
            return openStorage(url).keys.recordUse(...given);
          });
        };
      },
    ),
    'A use of an API key is repeated on another connection if the first is lost': ofKeys(
      'recordUse',
      (record, _, url) =>
        (...given) => {
          const begun = performance.now();
          return record(...given).catch((failure) => {
            if (!DomainError.is(failure) || performance.now() - begun > BUDGET.call / 2) throw failure;
            return openStorage(url).keys.recordUse(...given);
          });
        },
    ),
  },
  'completes a restore that was interrupted anywhere if it is repeated': {
    'Creations skip taken ids instead of those below an interrupted restore': {
      message: /the id \d+ is not above \d+/,
      change: both(
        // The counter is raised once all pets are restored.
        ofArchive('restore', (restore, { archive, place, ready }) => async (stored) => {
          const last = await archive.lastId();
          for (let done = 0; done < stored.length; done += 100) {
            await restore(stored.slice(done, done + 100));
            await place.setCounter(last);
            for (let count = 0; count < 3; count += 1) await ready();
          }
          await archive.skipIds(stored.at(-1)?.id ?? 0n);
        }),
        ofArchive('lastId', (lastId, { archive }) => async () => {
          const last = await lastId();
          return (await archive.read(last, 1_000)).at(-1)?.id ?? last;
        }),
      ),
    },
    'A restore resolves although some pets have failed': ofArchive('restore', (restore) => async (stored) => {
      for (let done = 0; done < stored.length; done += 50) await restore(stored.slice(done, done + 50)).catch(() => {});
    }),
    'A repeated restore leaves out the pets whose idempotency keys were stored before them': ofArchive(
      'restore',
      (restore) => {
        const claimed = new Set<string>();
        return async (stored) => {
          const left = stored.filter(({ idempotency }) => !claimed.has(idempotency?.key ?? ''));
          for (let done = 0; done < left.length; done += 100) {
            const some = left.slice(done, done + 100);
            for (const { idempotency } of some) if (idempotency) claimed.add(idempotency.key);
            await restore(some);
          }
        };
      },
    ),
  },
};
