import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS } from '@animal-store/domain';
import { type Bugs, both, ofKeys, ofPets, outage, unavailable } from './bug.ts';

/** Each error of a call is an outage. */
const allOutages =
  <Given extends unknown[], R>(call: (...given: Given) => Promise<R>) =>
  (...given: Given): Promise<R> =>
    call(...given).catch((failure) => {
      throw outage(failure);
    });

/** Bugs of wrong arguments. */
export const DEFECT_BUGS: Bugs = {
  'throws no outage for wrong arguments of pets.find, and fails no call beside them': {
    'Each error of a search is an outage': ofPets('find', allOutages),
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
  'throws no outage for wrong arguments of pets.list, and fails no call beside them': {
    'A wrong limit of a page is an outage': ofPets('list', (list) => async (selection) => {
      if (typeof selection.limit === 'string') throw unavailable(new Error('TypeMismatch'));
      return list(selection);
    }),
  },
  'throws no outage for wrong arguments of pets.add, and fails no call beside them': {
    'A category beyond an int64 is cut to 64 bits': ofPets('add', (add) => async (pet, key) => {
      const { categoryId } = pet;
      return add(typeof categoryId === 'bigint' ? { ...pet, categoryId: BigInt.asIntN(64, categoryId) } : pet, key);
    }),
    'A long holder of an idempotency key is cut': ofPets('add', (add) => async (pet, key) => {
      return add(pet, key && { ...key, holder: key.holder.slice(0, 100) });
    }),
  },
  'throws no outage for wrong arguments of keys.recordUse, and fails no call beside them': {
    'Each error of the methods of API keys is an outage': ofKeys('recordUse', allOutages),
  },
  'throws no outage for wrong arguments of keys.add, and fails no call beside them': {
    'A time that is missing is stored as 0': ofKeys('add', (add) => async (key) => {
      return add({ ...key, createdAt: key.createdAt ?? 0 });
    }),
    'A long holder of an API key is cut': ofKeys('add', (add) => async (key) => {
      return add({ ...key, holder: key.holder.slice(0, 100) });
    }),
  },
  'assigns no id after the last one, 2^53 - 1, and repeats none': {
    'An exhausted counter of ids is an outage': ofPets('add', allOutages),
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
