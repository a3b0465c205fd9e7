import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Pet } from '@animal-store/domain';
import { ALL_PETS, type Creation } from '@animal-store/domain/ports';
import { placeAt } from '../engine.ts';
import { type Bugs, both, noting, ofArchive, ofKeys, ofPets, recordOf, unavailable } from './bug.ts';

/** What the process has of earlier calls. */
const creations = new Map<string, Creation>();
const changing = new Set<string>();

/** The shards of pets, by the URLs of their places and their ids. */
const shards = new Map<string, bigint>();

/** The ids of restores that failed, by the URLs of their places. */
const interrupted = new Map<string, ReadonlySet<bigint>>();

/** Until when a replica does not see the revocations of some API keys, and how many creations are in flight. */
const unseen = new Map<string, number>();
let inFlight = 0;

const GHOST = { visiblePrefix: '', holder: '', createdAt: 0, expiresAt: null, revokedAt: null };

/** Reads share those of the same name that are in flight, and for some milliseconds longer. */
function joined<Given, R>(call: (given: Given) => Promise<R>, longer = 0): (given: Given) => Promise<R> {
  const shared = new Map<string, Promise<R>>();
  return (given) => {
    const name = typeof given === 'string' ? given : Object.values(given as object).join();
    const end = () => (longer ? sleep(longer) : Promise.resolve()).then(() => void shared.delete(name));
    const result = shared.get(name) ?? call(given).finally(end);
    shared.set(name, result);
    return result;
  };
}

/** Bugs that sequences of calls, and crowds of them, find. */
export const ANY_SEQUENCE_BUGS: Bugs = {
  'is right in any sequence of calls': {
    'Each connection assigns ids of its own block': ofPets('add', (add) => async (...given) => {
      const creation = await add(...given);
      return creation && { ...creation, pet: { ...creation.pet, id: (creation.pet.id + 1n) ^ 1n } };
    }),
    'A counter of ids is that of the storage which assigned the last': (...opening) => {
      let last = 0n;
      const note = noting((id) => {
        last = id;
      });
      return both(
        note,
        ofArchive('lastId', () => async () => last - 1n),
      )(...opening);
    },
    'A pet is in the shard that the own settings of a storage name': (storage, url, number = 0) => {
      const shardOf = (id: bigint) => id % BigInt(4 + number);
      return both(
        ofPets('add', (add) => async (...given) => {
          const creation = await add(...given);
          if (creation?.created) shards.set(`${url} ${creation.pet.id}`, shardOf(creation.pet.id));
          return creation;
        }),
        ofPets('find', (find) => async (id) => {
          const shard = shards.get(`${url} ${id}`) ?? shardOf(id);
          return shard === shardOf(id) ? find(id) : null;
        }),
      )(storage, url);
    },
    'Ids go on after the highest that is stored, and a restore raises no counter': (...opening) => {
      let own = 0n;
      const note = noting((id) => {
        own = id;
      });
      const lastId = ofArchive('lastId', (_, { archive }) => async () => {
        const highest = (await archive.read(0n, 5_000)).at(-1)?.id ?? 0n;
        return highest > own ? highest : own;
      });
      const set = ofPets('add', (add, { archive, place }) => async (...given) => {
        await place.setCounter(await archive.lastId());
        return add(...given);
      });
      return both(lastId, set, note)(...opening);
    },
    'Each creation beside a counter that was set back is a defect': ofPets('add', (add, _, url) => async (...given) => {
      if (placeAt(url).isCounterBack) throw new TypeError('duplicate key');
      return add(...given);
    }),
    'Creations at once whose id is taken store a pet each': ofPets('add', (add, _, url) => {
      const names = new Set<string>();
      return (pet, key) => {
        const name = key?.key ?? '';
        const isFirst = !names.has(name);
        names.add(name);
        return add(pet, isFirst || !placeAt(url).isCounterBack ? key : undefined).finally(() => names.delete(name));
      };
    }),
    'A pet that an operator deleted is not created again': ofPets('add', (add, _, url) => async (pet, key) => {
      const name = `${url} ${JSON.stringify(key)}`;
      const creation = creations.get(name) ?? (await add(pet, key));
      if (key && creation) creations.set(name, { ...creation, created: false });
      return creation;
    }),
    'The parts of an index that a list has once seen are taken for all': ofPets('list', (list) => {
      const partOf = ({ id, status }: Pet) => `${status} ${id / 64n}`;
      let seen: Set<string> | undefined;
      return async (selection) => {
        seen ??= new Set((await list({ ...ALL_PETS, after: 0n, limit: 5_000 })).map(partOf));
        return (await list(selection)).filter((pet) => seen?.has(partOf(pet)));
      };
    }),
    'A restore that failed is taken for whole by a storage that is opened then': ofArchive(
      'restore',
      (restore, _, url) => {
        const skipped = interrupted.get(url);
        return async (stored) => {
          const ids = new Set(stored.map(({ id }) => id));
          for (const pet of stored.filter(({ id }) => !skipped?.has(id)))
            await restore([pet]).catch((failure) => {
              interrupted.set(url, ids);
              throw failure;
            });
        };
      },
    ),
    'A search for an API key joins one that was sent before': ofKeys('find', (find) => joined(find)),
    'A revocation is written without a condition': ofKeys('revoke', (revoke, storage) => async (id, at) => {
      const read = await recordOf(storage, id);
      const revoked = await revoke(id, at);
      return read?.revokedAt === null && revoked ? { ...revoked, revokedAt: at } : revoked;
    }),
    'A use beside another change of its API key is unavailable': ofKeys('recordUse', (record) => async (id, time) => {
      if (changing.has(id)) throw unavailable();
      changing.add(id);
      await record(id, time).finally(() => changing.delete(id));
    }),
    'The use of an unknown API key makes a record': ofKeys('recordUse', (record, storage) => async (id, lastUsedAt) => {
      await record(id, lastUsedAt);
      if ((await recordOf(storage, id)) === undefined)
        await storage.keys.add({ ...GHOST, id, digest: id.padEnd(64, '0'), lastUsedAt });
    }),
    'The use of an unknown API key is that of a later record': (...opening) => {
      const uses = new Map<string, number>();
      return both(
        ofKeys('recordUse', (record) => (id, at) => {
          uses.set(id, at);
          return record(id, at);
        }),
        ofKeys('add', (add) => (key) => add({ ...key, lastUsedAt: uses.get(key.id) ?? key.lastUsedAt })),
      )(...opening);
    },
    'A revocation writes back the use that it has read': both(
      ofKeys('revoke', (revoke, storage) => async (id, at) => {
        const read = await recordOf(storage, id);
        await sleep(100);
        if (read) await storage.place.changeKey(id, { lastUsedAt: read.lastUsedAt });
        return revoke(id, at);
      }),
      // A use of several requests: some are stored between that reading and writing.
      ofKeys('recordUse', (record, { ready }) => async (...given) => {
        await ready();
        await record(...given);
      }),
    ),
    'A repetition stores the pet again, with the time of now': ofPets('add', (add, { place }) => async (...given) => {
      const creation = await add(...given);
      if (creation?.created === false) await place.changePet(creation.pet.id, { createdAt: Date.now() });
      return creation;
    }),
    'An idempotency key is looked up, then stored in a second step': ofPets('add', (add) => {
      const earlier = new Map<string, Creation>();
      return async (pet, key) => {
        const name = JSON.stringify(key);
        const creation = earlier.get(name) ?? ((await add(pet)) as Creation);
        earlier.set(name, { ...creation, created: false });
        return creation;
      };
    }),
  },

  'shows a pet to every read that begins after its acknowledgement, although others are in flight': {
    'A list joins one that began before it': ofPets('list', (list) => joined(list, 2)),
  },
  'shows an API key that another storage has added or revoked at once, beside creations': {
    'Searches go to a replica that lags beside ten creations': both(
      ofPets('add', (add) => (...given) => {
        inFlight += 1;
        return add(...given).finally(() => {
          inFlight -= 1;
        });
      }),
      ofKeys('revoke', (revoke) => async (id, at) => {
        const record = await revoke(id, at);
        if (inFlight > 10) unseen.set(id, Date.now() + 50);
        return record;
      }),
      ofKeys('find', (find) => async (digest) => {
        const record = await find(digest);
        return record && Date.now() < (unseen.get(record.id) ?? 0) ? { ...record, revokedAt: null } : record;
      }),
    ),
  },
  'keeps a revocation by one of eight storages that all record uses, and the last use': {
    'A revocation gives up after three conflicts, and returns as if it were stored': ofKeys(
      'revoke',
      (revoke, storage) => async (id, at) => {
        for (let conflicts = 0; conflicts < 3; conflicts += 1) {
          const before = await recordOf(storage, id);
          await storage.ready();
          if (isDeepStrictEqual(await recordOf(storage, id), before)) return revoke(id, at);
        }
        const record = await recordOf(storage, id);
        return record ? { ...record, revokedAt: record.revokedAt ?? at } : null;
      },
    ),
  },
};
