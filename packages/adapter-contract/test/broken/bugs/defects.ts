import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@animal-store/domain';
import { type Bugs, both, type Change, ofKeys, ofPets, outage, unavailable } from './bug.ts';

/** What an engine rejects, by the method whose adapter takes it for an outage. */
const REJECTED: Readonly<Record<string, (...given: never[]) => boolean>> = {
  'pets.list': ({ limit }: { readonly limit: unknown }) => typeof limit === 'string',
  'keys.find': (digest: unknown) => typeof digest !== 'string',
  'keys.list': ({ after }: { readonly after: unknown }) => typeof after !== 'string',
  'keys.recordUse': (_: string, at: unknown) => typeof at !== 'number',
  'keys.revoke': (_: string, at: unknown) => typeof at !== 'number',
  'archive.read': (after: unknown) => typeof after !== 'bigint',
  'archive.skipIds': (id: unknown) => typeof id !== 'bigint',
  'archive.restore': (pets: unknown) => !Array.isArray(pets),
};

/** A wrong argument is an outage of its call, and of the calls in flight. */
const rejecting =
  (name: string, isWrong: (...given: never[]) => boolean): Change =>
  (storage) => {
    const [port, method] = name.split('.') as ['pets' | 'keys' | 'archive', string];
    let rejected = 0;
    async function call(...given: never[]): Promise<unknown> {
      const before = rejected;
      if (isWrong(...given)) rejected += 1;
      return Reflect.get(
        storage[port],
        method,
      )(...given).finally(() => {
        if (rejected > before) throw outage(new Error('the engine rejects a call of the batch'));
      });
    }
    return { [port]: { ...storage[port], [method]: call } };
  };

const rejections = Object.entries(REJECTED).map(([name, isWrong]): [string, Bugs[string]] => [
  `throws no outage for wrong arguments of ${name}`,
  { [`A wrong argument of ${name} is an outage`]: rejecting(name, isWrong) },
]);

/** Bugs of wrong arguments. */
export const DEFECT_BUGS: Bugs = {
  ...Object.fromEntries(rejections),
  'throws no outage for wrong arguments of pets.find': {
    'A wrong id holds the searches beside it until they are unavailable': ofPets('find', (find) => {
      let until = 0;
      return async (id) => {
        if (typeof id !== 'bigint') until = performance.now() + 100;
        else if (performance.now() < until) {
          await sleep(2_000);
          throw unavailable();
        }
        return find(id);
      };
    }),
    'A wrong id delays the searches beside it by 6 seconds': ofPets('find', (find) => {
      let until = 0;
      return async (id) => {
        if (typeof id !== 'bigint') until = performance.now() + 6_000;
        else await sleep(Math.max(0, until - performance.now()));
        return find(id);
      };
    }),
    'A wrong id fails the searches beside it': ofPets('find', (find) => {
      let isWrong = false;
      return async (id) => {
        isWrong ||= id > 2n ** 63n;
        await nextTurn();
        if (!isWrong) return find(id);
        setImmediate(() => {
          isWrong = false;
        });
        throw new RangeError('out of range');
      };
    }),
  },
  'throws no outage for wrong arguments of pets.add': {
    'A category beyond an int64 is cut to 64 bits': ofPets('add', (add) => async (pet, key) => {
      const { categoryId } = pet;
      return add(typeof categoryId === 'bigint' ? { ...pet, categoryId: BigInt.asIntN(64, categoryId) } : pet, key);
    }),
    'A long holder of an idempotency key is cut': ofPets('add', (add) => async (pet, key) => {
      return add(pet, key && { ...key, holder: key.holder.slice(0, 100) });
    }),
  },
  'throws no outage for wrong arguments of keys.add': {
    'A time that is missing is stored as 0': ofKeys('add', (add) => async (key) => {
      return add({ ...key, createdAt: key.createdAt ?? 0 });
    }),
    'A long holder of an API key is cut': ofKeys('add', (add) => async (key) => {
      return add({ ...key, holder: key.holder.slice(0, 100) });
    }),
  },
  'assigns no id after the last one, 2^53 - 1, and repeats none': {
    'An exhausted counter of ids is an outage': ofPets('add', (add) => (...given) => {
      return add(...given).catch((failure) => {
        throw outage(failure);
      });
    }),
    'A creation has no end once the counter of ids is exhausted': ofPets(
      'add',
      (add, { archive }) =>
        async (...given) => {
          if ((await archive.lastId()) < LIMITS.id.maxAssigned) return add(...given);
          return new Promise(() => {});
        },
    ),
    'The counter of ids begins anew at its end': ofPets('add', (add, { archive }) => async (pet, key) => {
      if ((await archive.lastId()) < LIMITS.id.maxAssigned) return add(pet, key);
      return { pet: { id: 1n, ...pet }, created: true };
    }),
    'A defect fails the calls beside it as an outage': {
      message: /unavailable/,
      change(storage, url) {
        let defects = 0;
        return both(
          ofPets('add', (add) => (...given) => {
            return add(...given).catch((failure) => {
              defects += 1;
              throw failure;
            });
          }),
          ofPets('find', (find, { ready }) => async (id) => {
            const before = defects;
            await ready();
            const found = await find(id);
            if (defects > before) throw unavailable();
            return found;
          }),
        )(storage, url);
      },
    },
  },
};
