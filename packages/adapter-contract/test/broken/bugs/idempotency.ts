import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { BUDGET, createBatches } from '@animal-store/adapter-kit';
import type { Creation, Idempotency, PetRepository } from '@animal-store/domain/ports';
import { placeAt } from '../engine.ts';
import { type Bugs, type Change, locked, ofPets, unavailable } from './bug.ts';

const idempotency = (change: (idempotency: Idempotency) => Partial<Idempotency>): Change =>
  ofPets('add', (add) => (pet, given) => add(pet, given && { ...given, ...change(given) }));

/** The hash of a Java string. */
const hashCode = (text: string) => [...text].reduce((hash, unit) => (31 * hash + unit.charCodeAt(0)) | 0, 0);

/** Bugs of idempotency keys. */
export const IDEMPOTENCY_BUGS: Bugs = {
  'A fingerprint is kept as a hash of 32 bits': {
    foundBy: 'returns null for the same key and another pet, and stores nothing',
    change: idempotency(({ fingerprint }) => ({ fingerprint: `${crc32(fingerprint)}` })),
  },
  'Holder and key are kept as a hash of 32 bits': {
    foundBy: 'distinguishes keys and holders that differ in one character',
    change: idempotency(({ holder, key }) => ({ holder: '', key: `${hashCode(JSON.stringify([holder, key]))}` })),
  },
  'Holder and key are joined by two marks': {
    foundBy: 'distinguishes keys and holders that differ in one character',
    change: idempotency(({ holder, key }) => ({ holder: '', key: `${holder}::${key}`.slice(0, 255) })),
  },
  'Holder and key are cut after 640 characters of JSON': {
    foundBy: 'distinguishes keys and holders that differ in one character',
    change: idempotency(({ holder, key }) => ({ holder: JSON.stringify([holder, key]).slice(0, 640), key: 'k' })),
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
  'Holder and key are joined by a mark': {
    foundBy: 'distinguishes keys and holders that differ in one character',
    change: idempotency(({ holder, key }) => ({ holder: '', key: `${holder}#${key}`.slice(0, 255) })),
  },
  'A batch is repeated if its COMMIT gets no response': {
    foundBy: 'keeps all that it acknowledged if the interruption begins amid the writes of 20 callers',
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
      return (...given) => addInBatch(given, { deadline: performance.now() + BUDGET.call, hasEnded: false });
    }),
  },
  'A long holder of an idempotency key is cut': {
    foundBy: 'throws the error of a defect unchanged, and not as an outage',
    change: idempotency(({ holder }) => ({ holder: holder.slice(0, 100) })),
  },
  'A creation that fails between two requests leaves its pet without its idempotency key': {
    foundBy: 'writes nothing after a call has failed between two responses, and leaves no half of a write',
    change: ofPets('add', (add, { archive, place, ready }) => async (pet, key) => {
      const end = performance.now() + BUDGET.call;
      const stored = key && (await archive.read(0n, 1_000)).some(({ idempotency }) => idempotency?.key === key.key);
      if (key === undefined || stored) return add(pet, key);
      const creation = await add(pet);
      await ready();
      if (performance.now() > end - 500) throw unavailable();
      if (creation) await place.changePet(creation.pet.id, { idempotency: key });
      return creation;
    }),
  },
  'Each repetition completes an interrupted creation under a new id': {
    foundBy: 'keeps all that it acknowledged if the interruption begins amid the writes of 20 callers',
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
  'An idempotency key stands for an id that is taken for ever': {
    foundBy: 'creates again within 3 calls if its counter of ids is 4,000 behind',
    change: ofPets('add', (add, _, url) => async (pet, key) => {
      if (key && placeAt(url).isCounterBack) throw unavailable(new Error('the id is taken'));
      return add(pet, key);
    }),
  },
  'Creations at once whose id is taken store a pet each': {
    foundBy: 'is right in any sequence of calls',
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
  'A creation whose id is taken stores no idempotency key': {
    foundBy: 'is right in any sequence of calls',
    change: ofPets('add', (add, _, url) => (pet, key) => add(pet, placeAt(url).isCounterBack ? undefined : key)),
  },
};
