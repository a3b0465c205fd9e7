import { setTimeout as sleep } from 'node:timers/promises';
import { mapPorts } from '@animal-store/domain/ports';
import { type Bugs, both, locked, ofKeys, ofPets, recordOf } from './bug.ts';

const timersOfModule: NodeJS.Timeout[] = [];

/** The last ids by the names of places. */
const reserved = new Map<string, bigint>();

/** When API keys were revoked, and until when their records stay, by their ids. */
const revokedAt = new Map<string, number>();
const expiresAt = new Map<string, number>();

/** Writes the whole record that it has read. */
const wholeUses = ofKeys('recordUse', (record, storage) => async (id, at) => {
  const read = await recordOf(storage, id);
  await record(id, at);
  // So long that a busy process revokes meanwhile.
  await sleep(100);
  if (read) await storage.place.changeKey(id, { revokedAt: read.revokedAt });
});

/** Bugs of opening and closing, of settings, and of what a process keeps. */
export const STORAGE_BUGS: Bugs = {
  'rejects a place that it cannot use, and leaves it unchanged': {
    'A connection stays open that has found a wrong format': {
      message: /open after close/,
      closesFailedConnections: false,
    },
  },
  'closes before it was used, twice at once': {
    'A pool can be closed once': ({ close }) => {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error('end was called on the pool more than once');
          isClosed = true;
          await close();
        },
      };
    },
  },
  'lets the process end once it is closed, and leaves no timer behind': {
    'A connection stays open': {
      message: /code null after "closed, beside .*TCPSocketWrap/,
      change: () => ({ close: async () => {} }),
    },
    'A timer is set by what still ran when close returned': ({ close }) => ({
      async close() {
        await close();
        setImmediate(() => setTimeout(() => {}, 1_000).unref());
      },
    }),
    'One timer of a module goes on after the last close': () => {
      timersOfModule[0] ??= setInterval(() => {}, 1_000).unref();
      return {};
    },
  },

  'says that settings must change if its place is misconfigured, beside one that is right': {
    'A storage works by the session of another at the same server': { sharesSessions: true },
    'A wrong password is cached for its server': { cachesFailures: true },
  },
  'keeps pets, idempotency keys and API keys for years, and assigns higher ids when opened again': {
    'The record of a revoked API key has a time to live': both(
      ofKeys('revoke', (revoke) => (id, at) => {
        expiresAt.set(id, Date.now() + 1_000_000_000);
        return revoke(id, at);
      }),
      ofKeys('find', (find) => async (digest) => {
        const key = await find(digest);
        return key && Date.now() < (expiresAt.get(key.id) ?? Infinity) ? key : null;
      }),
    ),
  },
  'shares nothing with a storage at another place of the same name': {
    'Revocations are kept by the process': both(
      ofKeys('revoke', (revoke) => (id, at) => {
        revokedAt.set(id, at);
        return revoke(id, at);
      }),
      ofKeys('find', (find) => async (digest) => {
        const key = await find(digest);
        return key && { ...key, revokedAt: revokedAt.get(key.id) ?? key.revokedAt };
      }),
    ),
    'Ids are reserved by the name of a place': {
      message: /the last id/,
      change: ofPets('add', (add, { archive, place }, url) => async (...given) => {
        const { pathname } = new URL(url);
        const last = await archive.lastId();
        await place.setCounter(reserved.get(pathname) ?? last);
        const creation = await add(...given);
        reserved.set(pathname, creation?.pet.id ?? last);
        await place.setCounter(last);
        return creation;
      }),
    },
  },

  'ends another process with code 0 and its result if it closes during calls, after the first pet of a new place': {
    'A wait keeps no process alive': ofPets('add', (add) => async (...given) => {
      await sleep(50, null, { ref: false });
      return add(...given);
    }),
    'Calls in flight are forgotten when it is closed': {
      message: /ended with code 13/,
      change({ close, ...storage }) {
        let isClosed = false;
        const unlessClosed = async () => isClosed && new Promise<never>(() => {});
        const ports = mapPorts(
          storage,
          (method) =>
            (...given) =>
              method(...given).finally(unlessClosed),
        );
        return {
          ...ports,
          close() {
            isClosed = true;
            return close();
          },
        };
      },
    },
  },
  'keeps another process alive until its creation has a result or is unavailable, and then lets it end': {
    'The wait for another connection keeps no process alive': ofPets('add', (add, { ready }) => {
      const connected = (): Promise<void> => ready().catch(() => sleep(100, null, { ref: false }).then(connected));
      return (...given) => connected().then(() => add(...given));
    }),
  },
  'creates one pet for each of 50 idempotency keys that two processes are given at once': {
    'An idempotency key is looked up, then stored, under a lock of the process': ofPets(
      'add',
      (add, { archive, place }, url) =>
        (pet, key) => {
          if (key === undefined) return add(pet);
          return locked(`${url} ${key.key}`, async () => {
            const stored = await archive.read(0n, 1_000);
            if (stored.some(({ idempotency }) => idempotency?.key === key.key)) return add(pet, key);
            await sleep(100);
            const creation = await add(pet);
            if (creation) await place.changePet(creation.pet.id, { idempotency: key });
            return creation;
          });
        },
    ),
  },
  'keeps each use of an API key by one process, and each revocation by another': {
    'A use writes the whole record of the API key, under a lock of the process': {
      message: /\.\d+\.revokedAt is null instead of 5/,
      change: both(
        wholeUses,
        ofKeys('recordUse', (record) => (id, at) => locked(id, () => record(id, at))),
        ofKeys('revoke', (revoke) => (id, at) => locked(id, () => revoke(id, at))),
      ),
    },
  },
  'keeps nothing of calls that have ended': {
    'The pets that were found are kept for ever': ofPets('find', (find) => {
      const all: unknown[] = [];
      return async (id) => {
        const found = await find(id);
        all.push(found);
        return found;
      };
    }),
  },
};
