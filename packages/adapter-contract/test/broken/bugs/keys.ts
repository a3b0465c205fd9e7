import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { BUDGET, withTimeout } from '@animal-store/adapter-kit';
import { type ApiKey, DomainError } from '@animal-store/domain';
import { type Bugs, both, type Change, locked, ofKeys, ofPets, outage, unavailable } from './bug.ts';

/** The API keys that a storage changes, by their ids. */
const changing = new Set<string>();

/** How many creations are in flight. */
let creations = 0;

/** Until when a replica does not see the revocations of some API keys. */
const unseen = new Map<string, number>();

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

/** The id of API keys after which a list begins with another. */
const idBefore = (id: string) => (BigInt(`0x${id}`) - 1n).toString(16).padStart(16, '0');

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

const GHOST = { visiblePrefix: '', holder: '', createdAt: 0, expiresAt: null, revokedAt: null };

const cacheOfModule = new Map<string, ApiKey>();

/** Bugs of API keys. */
export const KEY_BUGS: Bugs = {
  'A lookup in flight caches a key that was revoked': {
    foundBy: 'is right in any sequence of calls',
    change: cachedKeys,
  },
  'A second record with the same digest is an error': {
    foundBy: 'is right in any sequence of calls',
    change: ofKeys('add', (add, { keys }) => async (key) => {
      if ((await keys.find(key.digest)) !== null) throw new Error('violates the unique index');
      await add(key);
    }),
  },
  'A use beside another change of its API key is unavailable': {
    foundBy: 'is right in any sequence of calls',
    change: ofKeys('recordUse', (recordUse) => async (id, time) => {
      if (changing.has(id)) throw unavailable();
      changing.add(id);
      await recordUse(id, time).finally(() => changing.delete(id));
    }),
  },
  'API keys are cached by the module': {
    foundBy: 'is right in any sequence of calls',
    change: both(
      ofKeys('find', (find) => async (digest) => {
        const key = cacheOfModule.get(digest) ?? (await find(digest));
        if (key !== null) cacheOfModule.set(digest, key);
        return key;
      }),
      ofKeys('revoke', (revoke) => (id, at) => revoke(id, at).finally(() => cacheOfModule.clear())),
    ),
  },
  'The use of an unknown API key makes a record': {
    foundBy: 'is right in any sequence of calls',
    change: ofKeys('recordUse', (record, { keys }) => async (id, lastUsedAt) => {
      await record(id, lastUsedAt);
      const page = await keys.list({ after: idBefore(id), limit: 1 });
      if (page[0]?.id !== id) await keys.add({ ...GHOST, id, digest: id.padEnd(64, '0'), lastUsedAt });
    }),
  },
  'A use is recorded by writing the whole record of the API key': {
    foundBy: 'is right in any sequence of calls',
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
    foundBy: 'is right in any sequence of calls',
    change: writingBackUses,
  },
  'Each error of the methods of API keys is an outage': {
    foundBy: 'throws the error of a defect unchanged, for each method of API keys, and works afterwards',
    change: ofKeys('recordUse', (record) => async (...given) => {
      await record(...given).catch((failure) => {
        throw outage(failure);
      });
    }),
  },
  'The use of an unknown API key is that of a later record': {
    foundBy: 'is right in any sequence of calls',
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
    foundBy: 'writes nothing after a call has failed',
    change: ofKeys('add', (add) => (key) => {
      const addUntilStored = (): Promise<void> =>
        add(key).catch((failure) => {
          if (!DomainError.is(failure)) throw failure;
          return sleep(100).then(addUntilStored);
        });
      return withTimeout(addUntilStored(), BUDGET.call).catch((failure) => {
        throw unavailable(failure);
      });
    }),
  },
  'A long holder of an API key is cut': {
    foundBy: 'throws the error of a defect unchanged, for each method of API keys, and works afterwards',
    change: ofKeys('add', (add) => async (key) => add({ ...key, holder: key.holder.slice(0, 100) })),
  },
  'A second record with the same digest resets the last use': {
    foundBy: 'is right in any sequence of calls',
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
    foundBy: 'is right in any sequence of calls',
    change: writingBackUses,
  },
  "A revocation that can't be read counts as none in a list": {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever connections break',
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
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever connections break',
    change: ofKeys('find', (find, { ready }) => async (digest) => {
      const key = await find(digest);
      return ready().then(
        () => key,
        () => key && { ...key, revokedAt: null },
      );
    }),
  },
  'A revocation gives up after three conflicts, and returns as if it were stored': {
    foundBy: 'keep a revocation by one of eight that all record uses, and the last use',
    change: ofKeys('revoke', (revoke, { keys, ready }) => async (id, at) => {
      const read = async () => (await keys.list({ after: idBefore(id), limit: 1 })).find((record) => record.id === id);
      for (let conflicts = 0; conflicts < 3; conflicts += 1) {
        const before = await read();
        await ready();
        if (isDeepStrictEqual(await read(), before)) return revoke(id, at);
      }
      const record = await read();
      return record ? { ...record, revokedAt: record.revokedAt ?? at } : null;
    }),
  },
  'Searches go to a replica that lags beside ten creations': {
    foundBy: 'show an API key that the other has added or revoked at once, beside creations',
    change: both(
      ofPets('add', (add) => (...given) => {
        creations += 1;
        return add(...given).finally(() => {
          creations -= 1;
        });
      }),
      ofKeys('revoke', (revoke) => async (id, at) => {
        const record = await revoke(id, at);
        if (creations > 10) unseen.set(id, Date.now() + 50);
        return record;
      }),
      ofKeys('find', (find) => async (digest) => {
        const record = await find(digest);
        return record && Date.now() < (unseen.get(record.id) ?? 0) ? { ...record, revokedAt: null } : record;
      }),
    ),
  },
  'A revocation is written without a condition': {
    foundBy: 'is right in any sequence of calls',
    change: ofKeys('revoke', (revoke, { keys }) => async (id, at) => {
      const [read] = await keys.list({ after: idBefore(id), limit: 1 });
      const revoked = await revoke(id, at);
      return read?.id === id && read.revokedAt === null && revoked ? { ...revoked, revokedAt: at } : revoked;
    }),
  },
  'An API key is listed only if its record was new': {
    foundBy: 'is right or unavailable in each call, and does no write twice, wherever connections break',
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
};
