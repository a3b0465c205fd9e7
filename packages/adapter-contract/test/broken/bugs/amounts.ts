import { setTimeout as sleep } from 'node:timers/promises';
import { placeAt } from '../engine.ts';
import { type Bugs, ofArchive, ofKeys, ofPets, unavailable, withinCall } from './bug.ts';

/** Rejects calls while too many are in flight. */
function atMost<Given extends unknown[], R>(
  limit: number,
  call: (...given: Given) => Promise<R>,
  counts: (...given: Given) => boolean,
): (...given: Given) => Promise<R> {
  let inFlight = 0;
  return async (...given) => {
    if (!counts(...given)) return call(...given);
    if (inFlight >= limit) throw unavailable(new Error('too many calls'));
    inFlight += 1;
    return call(...given).finally(() => {
      inFlight -= 1;
    });
  };
}

/** Bugs of as much as an engine cuts or rejects. */
export const AMOUNT_BUGS: Bugs = {
  'creates, finds and lists a thousand of any pets, at once': {
    'Searches wait for each other, 5 ms each': ofPets('find', (find) => {
      let queue: Promise<unknown> = Promise.resolve();
      return (id) => {
        const found = queue.then(() => sleep(5)).then(() => find(id));
        queue = found.catch(() => {});
        return withinCall(found);
      };
    }),
    'A page has 100 pets at most': {
      message: /\.100 is undefined instead of/,
      change: ofPets('list', (list) => (selection) => list({ ...selection, limit: Math.min(selection.limit, 100) })),
    },
  },
  'creates, finds and lists a thousand of the largest pets, each with an idempotency key, at once': {
    'More than 200 creations with keys at once are rejected': ofPets('add', (add) => {
      return atMost(200, add, (_, key) => key !== undefined);
    }),
    'More than 600 different pages at once are rejected': ofPets('list', (list) => {
      return atMost(600, list, ({ after }) => after > 0n);
    }),
    // The engine reads so much, and then leaves out those with another status.
    'The first megabyte of a page is taken for the whole': ofPets('list', (list, { archive }) => async (selection) => {
      let left = 2 ** 20;
      const read = (await archive.read(selection.after, 1_000)).filter((pet) => {
        left -= pet.name.length + JSON.stringify(pet.idempotency ?? null).length;
        return left > 0;
      });
      const last = read.at(-1)?.id ?? 0n;
      return (await list(selection)).filter(({ id }) => id <= last);
    }),
  },
  'lists each of 1,100 API keys once, in order of id over all pages of any size': {
    'API keys behind the first 1,024 that the engine returns are in no list': ofKeys('list', (list) => {
      return async ({ after, limit }) => {
        const all = await list({ after: '', limit: 1_024 });
        return all.filter(({ id }) => id > after).slice(0, limit);
      };
    }),
  },
  'reads exactly the first 1,000 of 2,000 pets with consecutive ids, and the others': {
    'A response that the engine has cut at 1,024 records is taken for an empty page': ofArchive('read', (read) => {
      return async (after, limit) => {
        // The engine is asked for a range of ids.
        const range = (await read(after, 1_025)).filter(({ id }) => id <= after + 1_025n);
        return range.length > 1_024 ? [] : read(after, limit);
      };
    }),
  },
  'creates again within 3 calls if its counter of ids is 4,000 behind': {
    'A counter of ids that is behind goes on by 400 for each call, until one of them is free': ofPets(
      'add',
      (add, { archive }, url) => {
        let next = 0n;
        return async (...given) => {
          const block = placeAt(url).isCounterBack ? await archive.read(next, 400) : [];
          next += 400n;
          if (block.at(-1)?.id === next) throw unavailable(new Error('the ids are taken'));
          return add(...given);
        };
      },
    ),
  },
};
