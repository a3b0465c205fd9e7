import type { ApiKey, Pet } from '@animal-store/domain';
import type { Idempotency } from '@animal-store/domain/ports';
import { placeAt } from '../engine.ts';
import { type Bugs, both, ofArchive, ofKeys, ofPets } from './bug.ts';

const foundBy = 'is right in any sequence of calls';

/** What storages of the process leave behind, by the URLs of their places. */
const keysAtClose = new Map<string, Map<string, ApiKey>>();
const idsAtClose = new Map<string, bigint>();
const interrupted = new Map<string, ReadonlySet<bigint>>();

const nameOf = (url: string, { holder, key }: Idempotency) => JSON.stringify([url, holder, key]);

/** Bugs that no call shows alone, but only after certain others. */
export const SEQUENCE_BUGS: Bugs = {
  'API keys that a storage has found are still so when it is opened again': {
    foundBy,
    change(storage, url) {
      const kept = keysAtClose.get(url) ?? new Map<string, ApiKey>();
      const found = new Map<string, ApiKey>();
      const { close } = storage;
      const changed = both(
        ofKeys('find', (find) => async (digest) => {
          const key = kept.get(digest) ?? (await find(digest));
          kept.delete(digest);
          if (key !== null) found.set(digest, key);
          return key;
        }),
        ofKeys('revoke', (revoke) => (id, at) => revoke(id, at).finally(() => kept.clear())),
        ofKeys('recordUse', (record) => (id, at) => record(id, at).finally(() => kept.clear())),
      );
      return {
        ...changed(storage, url),
        close() {
          keysAtClose.set(url, found);
          return close();
        },
      };
    },
  },
  'A storage that is opened again goes on after the last id that it has assigned, although others were skipped': {
    foundBy,
    change(storage, url) {
      let last = idsAtClose.get(url);
      const { close, place } = storage;
      const add = ofPets('add', (right) => async (...given) => {
        if (last !== undefined && idsAtClose.delete(url)) await place.setCounter(last);
        const creation = await right(...given);
        last = creation?.pet.id ?? last;
        return creation;
      });
      return {
        ...add(storage, url),
        close() {
          if (last !== undefined) idsAtClose.set(url, last);
          return close();
        },
      };
    },
  },
  'An API key that is added again is as the storage that does so has added it': {
    foundBy,
    change(storage, url) {
      const own = new Map<string, ApiKey>();
      const change = (id: string, members: Partial<ApiKey> | null) => {
        const key = own.get(id);
        if (key) own.set(id, { ...key, ...members });
      };
      const changed = both(
        ofKeys('add', (add, { place }) => async (key) => {
          await add(key);
          const before = own.get(key.id);
          if (before) await place.changeKey(key.id, before);
          else own.set(key.id, (await storage.keys.find(key.digest)) ?? key);
        }),
        ofKeys('revoke', (revoke) => async (id, at) => {
          const key = await revoke(id, at);
          change(id, key);
          return key;
        }),
        ofKeys('recordUse', (record) => async (id, lastUsedAt) => {
          await record(id, lastUsedAt);
          change(id, { lastUsedAt });
        }),
      );
      return changed(storage, url);
    },
  },
  'The idempotency key of a pet whose id was taken is known to the storage alone that created it': {
    foundBy,
    change(storage, url) {
      const own = new Map<string, { readonly pet: Pet; readonly fingerprint: string }>();
      const add = ofPets('add', (right) => async (pet, key) => {
        if (key === undefined || !placeAt(url).isCounterBack) return right(pet, key);
        const earlier = own.get(nameOf(url, key));
        if (earlier) return earlier.fingerprint === key.fingerprint ? { pet: earlier.pet, created: false } : null;
        const stored = (await storage.archive.read(0n, 1_000)).find(
          ({ idempotency }) => idempotency?.key === key.key && idempotency.holder === key.holder,
        );
        if (stored) return right(pet, key);
        const creation = await right(pet);
        if (creation) own.set(nameOf(url, key), { pet: creation.pet, fingerprint: key.fingerprint });
        return creation;
      });
      return add(storage, url);
    },
  },
  'A restore that failed is taken for whole by a storage that is opened then': {
    foundBy,
    change(storage, url) {
      const skipped = interrupted.get(url);
      const changed = ofArchive('restore', (restore) => async (stored) => {
        const ids = new Set(stored.map(({ id }) => id));
        for (const pet of stored) {
          if (skipped?.has(pet.id)) continue;
          await restore([pet]).catch((failure) => {
            interrupted.set(url, ids);
            throw failure;
          });
        }
      });
      return changed(storage, url);
    },
  },
};
