import type { Pet } from '@animal-store/domain';
import { fingerprint, type Idempotency, type PetArchive, type StoredPet } from '@animal-store/domain/ports';
import { type Bugs, both, type Change, isBehind, ofArchive, ofPets } from './bug.ts';

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

/** Bugs of the archive. */
export const ARCHIVE_BUGS: Bugs = {
  'The counter of ids is raised to the first pet of a restore': {
    foundBy: 'is right in any sequence of calls',
    change: ofArchive('restore', (restore, { archive, place }) => async (stored) => {
      const last = await archive.lastId();
      await restore(stored);
      await place.setCounter(last);
      await archive.skipIds(stored[0]?.id ?? 0n);
    }),
  },
  'A repeated restore leaves out the pets whose idempotency keys were stored before them': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated',
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
  'A restored pet whose id is stored is an error': {
    foundBy: 'leaves out pets whose id or idempotency key is stored',
    change: ofArchive('restore', (restore, { pets }) => async (stored) => {
      for (const { id } of stored) if ((await pets.find(id)) !== null) throw new Error('violates the primary key');
      await restore(stored);
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
  'The archive reads an empty holder as a mark': {
    foundBy: 'reads pets with the idempotency keys and the times of their creation, page by page',
    change: ofArchive('read', (read) => async (...given) => {
      const page = await read(...given);
      return page.map(({ idempotency, ...pet }) =>
        idempotency ? { ...pet, idempotency: { ...idempotency, holder: idempotency.holder || '-' } } : pet,
      );
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
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated',
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
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated',
    change: raisingLast,
  },
  'Creations skip taken ids instead of those below an interrupted restore': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated',
    message: /the id \d+ is not above \d+/,
    change: both(
      raisingLast,
      ofArchive('lastId', (lastId, { archive }) => async () => {
        const last = await lastId();
        return (await archive.read(last, 1_000)).at(-1)?.id ?? last;
      }),
    ),
  },
  'A restore resolves although some pets have failed': {
    foundBy: 'completes a restore that was interrupted anywhere if it is repeated',
    change: ofArchive('restore', (restore) => async (stored) => {
      for (let done = 0; done < stored.length; done += 50) await restore(stored.slice(done, done + 50)).catch(() => {});
    }),
  },
  'A restore raises the counter of ids if the highest is greater as a text': {
    foundBy: 'skips the ids up to one, and is never set back',
    change: ofArchive('restore', (restore, { archive, place }) => async (stored) => {
      const last = await archive.lastId();
      await restore(stored);
      if (`${stored.at(-1)?.id}` < `${last}`) await place.setCounter(last);
    }),
  },
  'Ids go on after the highest that is stored, and a restore raises no counter': {
    foundBy: 'is right in any sequence of calls',
    change: afterHighest,
  },
  'The id of a deleted pet that another storage has assigned is assigned again': {
    foundBy: 'is right in any sequence of calls',
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
  'A restore makes fingerprints anew': {
    foundBy: 'restores any pets as they were, 1,000 in a call',
    change: ofArchive('restore', (restore) => (stored) => {
      const anew = ({ id: _, createdAt: __, idempotency, ...pet }: StoredPet) =>
        idempotency && { idempotency: { ...idempotency, fingerprint: fingerprint(pet) } };
      return restore(stored.map((pet) => ({ ...pet, ...anew(pet) })));
    }),
  },
  'Of many pets with one idempotency key a restore stores the last': {
    foundBy: 'leaves out pets whose id or idempotency key is stored',
    change: ofArchive('restore', (restore) => (stored) => restore(stored.length > 100 ? stored.toReversed() : stored)),
  },
  'A pet is left out of a restore if a pet before it has its idempotency key': {
    foundBy: 'leaves out pets whose id or idempotency key is stored',
    change: ofArchive('restore', (restore) => (stored) => {
      const keys = stored.map(({ idempotency }) => idempotency?.key);
      return restore(stored.filter((_, index) => keys[index] === undefined || keys.indexOf(keys[index]) === index));
    }),
  },
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
};
