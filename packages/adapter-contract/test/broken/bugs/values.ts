import { crc32 } from 'node:zlib';
import type { Pet } from '@animal-store/domain';
import type { Idempotency, PetArchive, StoredPet } from '@animal-store/domain/ports';
import { type Bugs, both, type Change, isBehind, ofArchive, ofPets } from './bug.ts';

const idempotency = (change: (idempotency: Idempotency) => Partial<Idempotency>): Change =>
  ofPets('add', (add) => (pet, given) => add(pet, given && { ...given, ...change(given) }));

/** The hash of a Java string. */
const hashCode = (text: string) => [...text].reduce((hash, unit) => (31 * hash + unit.charCodeAt(0)) | 0, 0);

const paddedTo = (digits: number) => (one: Pet, other: Pet) =>
  String(one.id).padStart(digits, '0') < String(other.id).padStart(digits, '0') ? -1 : 1;

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

/** Bugs of what is stored, and of what comes back. */
export const VALUE_BUGS: Bugs = {
  'assigns an id from 1 to 2^53 - 1, and returns any pet as it was given, code unit for code unit': {
    'A name is normalized': {
      message: /\.name is '\\u00e9' instead of 'e\\u0301'/,
      change: ofPets('add', (add) => (pet, key) => add({ ...pet, name: pet.name.normalize() }, key)),
    },
    'Reads go to any replica': {
      behind: 'a replica that lags',
      change: ofPets('find', (find, { archive }, url) => async (id) => {
        const pet = await find(id);
        if (!isBehind(url)) return pet;
        const [stored] = await archive.read(id - 1n, 1);
        return stored !== undefined && Date.now() - stored.createdAt < 100 ? null : pet;
      }),
    },
  },
  'returns null for the same key and another pet, and stores nothing': {
    'A fingerprint is kept as a hash of 32 bits': idempotency(({ fingerprint }) => ({
      fingerprint: `${crc32(fingerprint)}`,
    })),
  },
  'distinguishes keys and holders that differ in one character': {
    'Holder and key are kept as a hash of 32 bits': idempotency(({ holder, key }) => ({
      ...{ holder: '', key: `${hashCode(JSON.stringify([holder, key]))}` },
    })),
    'Holder and key are cut after 1,024 characters of JSON': idempotency(({ holder, key }) => ({
      ...{ holder: JSON.stringify([holder, key]).slice(0, 1_024), key: 'k' },
    })),
    'An empty holder is stored as a mark': idempotency(({ holder }) => ({ holder: holder || '-' })),
  },

  'reads pets with the times of their creation': {
    'Pets are created at whole seconds': ofPets('add', (add, { place }) => async (...given) => {
      const creation = await add(...given);
      const createdAt = Math.floor(Date.now() / 1_000) * 1_000;
      if (creation?.created) await place.changePet(creation.pet.id, { createdAt });
      return creation;
    }),
  },
  'restores any pets as they were, 1,000 in a call': {
    'Items that the engine did not process are left out of a restore': {
      behind: 'an engine under load',
      change: ofArchive('restore', (restore, _, url) => (stored) => {
        return restore(isBehind(url) ? stored.filter((_, index) => index % 10 < 7) : stored);
      }),
    },
    'Ids are padded to nine digits': ofPets('list', (list) => async ({ after, limit, ...selection }) => {
      const ordered = (await list({ ...selection, after: 0n, limit: 5_000 })).toSorted(paddedTo(9));
      const begin = ordered.findIndex(({ id }) => id > after);
      return begin < 0 ? [] : ordered.slice(begin, begin + limit);
    }),
    'A page of the archive lacks what the engine has cut off one partition': ofArchive('read', (_, { archive }) => {
      return async (after, limit) => (await firstOfPartitions(archive, after)).slice(0, limit);
    }),
    'A list by status lacks what the engine has cut off one partition': ofPets('list', (list, { archive }) => {
      return async (selection) => {
        const { status, after, limit } = selection;
        if (status === undefined) return list(selection);
        const found = (await firstOfPartitions(archive, after)).filter((pet) => pet.status === status);
        return found.slice(0, limit).map(({ createdAt: _, idempotency: __, ...pet }) => pet);
      };
    }),
  },
  'skips the ids up to one, and is never set back': {
    'The counter of ids is raised if the new one is greater as a text': ofArchive('skipIds', (skipIds, { archive }) => {
      return async (to) => {
        if (`${to}` > `${await archive.lastId()}`) await skipIds(to);
      };
    }),
    'A restore raises the counter of ids if the highest is greater as a text': ofArchive(
      'restore',
      (restore, { archive, place }) =>
        async (stored) => {
          const last = await archive.lastId();
          await restore(stored);
          if (`${stored.at(-1)?.id}` < `${last}`) await place.setCounter(last);
        },
    ),
  },
  'leaves out pets whose id or idempotency key is stored': {
    'A restore overwrites a stored pet': ofArchive('restore', (restore, { place }) => async (stored) => {
      await restore(stored);
      for (const { id, name } of stored) await place.changePet(id, { name });
    }),
    'Of many pets with one idempotency key a restore stores the last': ofArchive('restore', (restore) => (stored) => {
      return restore(stored.length > 100 ? stored.toReversed() : stored);
    }),
    'The idempotency key of a pet whose id is stored is restored': (...opening) => {
      const claimed = new Set<string>();
      return both(
        ofArchive('restore', (restore) => (stored) => {
          for (const { idempotency } of stored) if (idempotency) claimed.add(idempotency.key + idempotency.fingerprint);
          return restore(stored);
        }),
        ofPets('add', (add) => async (pet, key) => {
          const another = [...claimed].some((claim) => claim.startsWith(key?.key ?? ' '));
          return key && another && !claimed.has(key.key + key.fingerprint) ? null : add(pet, key);
        }),
      )(...opening);
    },
  },
};
