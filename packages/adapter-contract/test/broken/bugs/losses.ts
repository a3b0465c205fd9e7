import { mapPorts, StorageMisconfigured } from '@animal-store/domain/ports';
import type { CopiedStorage } from '../adapter.ts';
import { LOST, newPlace, type Operations, operationsOn, type Place, placeAt } from '../engine.ts';
import { type Bugs, type Change, ofPets, unavailable } from './bug.ts';

/** Does something before each call. */
function beforeEach(storage: CopiedStorage, work: () => Promise<void>): Partial<CopiedStorage> {
  const ports = mapPorts(
    storage,
    (method) =>
      (...given) =>
        work().then(() => method(...given)),
  );
  return { ...ports, ready: () => work().then(() => storage.ready()) };
}

/** Goes on at another place while something is the case, which has what a copy of its own has then. */
function elsewhere(
  isElsewhere: (place: Place) => boolean,
  copyOf: (place: Place) => Partial<Place> = () => ({}),
): Change {
  const others = new WeakMap<Place, Operations>();
  return (storage, url) => {
    function operations(): Operations {
      const place = placeAt(url);
      if (!isElsewhere(place)) return storage;
      const other = others.get(place) ?? operationsOn({ ...newPlace(), ...copyOf(place) });
      others.set(place, other);
      return other;
    }
    const portOf = <Port extends keyof Operations>(port: Port) =>
      new Proxy(storage[port], { get: (_, method) => Reflect.get(operations()[port], method) });
    const ports = { pets: portOf('pets'), keys: portOf('keys'), archive: portOf('archive') };
    let isClosed = false;
    return {
      ...ports,
      ready: () => (isClosed ? storage : operations().place).ready(),
      close() {
        isClosed = true;
        return storage.close();
      },
    };
  };
}

/** Goes on at an empty place if its own was lost. */
const createdAnew = elsewhere(({ isLost }) => isLost);

/** Says that the place is another one if a new connection may have made an empty place. */
const makingAnew =
  (makes: (hasMet: boolean) => boolean): Change =>
  ({ ready }, url) => {
    let hasMet = false;
    let isMadeAnew = false;
    return {
      async ready() {
        await ready().catch((failure) => {
          isMadeAnew ||= placeAt(url).isLost && failure.cause?.message !== LOST && makes(hasMet);
          hasMet ||= failure.cause?.message === LOST;
          throw isMadeAnew ? unavailable(new StorageMisconfigured('the place is another one')) : failure;
        });
      },
    };
  };

/** Fails some creations once something is over, although it is ready. */
const failingAfter = (isSo: (place: Place) => boolean): Change =>
  ofPets('add', (add, _, url) => {
    let left = 0;
    return async (...given) => {
      if (isSo(placeAt(url))) left = 4;
      left -= 1;
      if (left > 0) throw unavailable(new Error('a broken connection'));
      return add(...given);
    };
  });

const isTakenOver = ({ isNodeAway, readyUntilElection }: Place) => isNodeAway && readyUntilElection === 0;

const PARTIAL = 'is right or unavailable without a part of its place, and not ready if a call is unavailable';

/** Bugs of calls while a place, or a part of it, is lost. */
export const LOSS_BUGS: Bugs = {
  'A new connection makes a lost place anew': {
    foundBy: 'says that what was stored is gone, makes nothing in its place, and works again once it is back',
    change(storage, url) {
      const another = operationsOn(newPlace()).pets;
      let isNew = false;
      // Whichever call is the first to notice that its connection is gone.
      async function noticed<R>(call: Promise<R>): Promise<R> {
        return call.catch((error) => {
          isNew ||= placeAt(url).isLost && error.cause?.message !== LOST;
          throw error;
        });
      }
      const { pets, keys } = mapPorts(
        storage,
        (method) =>
          (...given) =>
            noticed(method(...given)),
      );
      const add: typeof pets.add = (...given) => (isNew ? another : pets).add(...given);
      return { pets: { ...pets, add }, keys, ready: () => noticed(storage.ready()) };
    },
  },
  'A new connection makes an empty place where one was lost, and then says that it is another': {
    foundBy: 'says that what was stored is gone, makes nothing in its place, and works again once it is back',
    message: /what is wrong/,
    change: makingAnew(() => true),
  },
  'A new connection makes an empty place where one was lost, unless the one before has met the loss': {
    foundBy: 'says that what was stored is gone, makes nothing in its place, and works again once it is back',
    message: /what is wrong/,
    change: makingAnew((hasMet) => !hasMet),
  },
  'A place that was dropped and created anew is taken for the same': {
    foundBy: 'says that what was stored is gone, makes nothing in its place, and works again once it is back',
    change: createdAnew,
  },
  'Only ready notices that a place was dropped and created anew': {
    foundBy: 'says that what was stored is gone, makes nothing in its place, and works again once it is back',
    change: (storage, url) => ({ ...createdAnew(storage, url), ready: storage.ready }),
  },
  'A storage is ready before it can create pets again, after a loss': {
    foundBy: 'says that what was stored is gone, makes nothing in its place, and works again once it is back',
    message: /taken away: .* unavailable/,
    change: failingAfter(({ isLost }) => isLost),
  },
  'A list lacks the pets of a partition that is away': {
    foundBy: PARTIAL,
    message: /a partition: that is impossible/,
    change: ofPets('list', (list, _, url) => async (selection) => {
      const place = placeAt(url);
      if (!place.isPartAway) return list(selection);
      return (await operationsOn(place).pets.list(selection)).filter(({ id }) => id % 3n > 0n);
    }),
  },
  'A pet of a partition that is away is not found': {
    foundBy: PARTIAL,
    message: /a partition: that is impossible/,
    change: ofPets('find', (find, _, url) => async (id) => (placeAt(url).isPartAway ? null : find(id))),
  },
  'The error of a partition that is away is thrown as a defect': {
    foundBy: PARTIAL,
    message: /a partition: .*a partition is away|^Error: a partition is away/,
    change: ofPets('list', (list, _, url) => (selection) => {
      return list(selection).catch((failure) => {
        throw placeAt(url).isPartAway ? failure.cause : failure;
      });
    }),
  },
  'A storage is ready while a partition is away': {
    foundBy: PARTIAL,
    message: /`ready` fails if another call is unavailable/,
    change: ({ ready }, url) => ({ ready: async () => (placeAt(url).isPartAway ? undefined : ready()) }),
  },
  'A storage is ready before it can create pets again, after a part was away': {
    foundBy: PARTIAL,
    message: /a partition: .* unavailable/,
    change: failingAfter(({ isPartAway }) => isPartAway),
  },
  'A login that finds no quorum is taken for a wrong password': {
    foundBy: PARTIAL,
    message: /a partition: a StorageMisconfigured although the outage will pass/,
    change: ({ ready }, url) => {
      const isOpenedThen = placeAt(url).isPartAway;
      return {
        ready: () =>
          ready().catch((failure) => {
            throw isOpenedThen ? unavailable(new StorageMisconfigured('check the password')) : failure;
          }),
      };
    },
  },
  'A partition that joins again is taken for a wrong setting': {
    foundBy: PARTIAL,
    message: /a partition: a StorageMisconfigured although the outage will pass/,
    change({ ready }, url) {
      let left = 0;
      return {
        async ready() {
          if (placeAt(url).isPartAway) left = 3;
          else if (--left >= 0) throw unavailable(new StorageMisconfigured('the cluster is not active'));
          await ready();
        },
      };
    },
  },
  'A storage that was opened while a partition was away never finds it': {
    foundBy: PARTIAL,
    message: /a partition: .* unavailable/,
    change(storage, url) {
      const isOpenedThen = placeAt(url).isPartAway;
      return beforeEach(storage, async () => {
        if (isOpenedThen) throw unavailable(new Error('a partition has no address'));
      });
    },
  },
  'A place is on one node of three': {
    foundBy: PARTIAL,
    message: /a node of three: .* unavailable/,
    change: (storage, url) =>
      beforeEach(storage, async () => {
        if (placeAt(url).isNodeAway) throw unavailable(new Error('no replica'));
      }),
  },
  'A storage begins with one node of three': {
    foundBy: PARTIAL,
    message: /a node of three: .* unavailable/,
    change(storage, url) {
      let knowsNodes: boolean | undefined;
      const unlessUnknown = async () => {
        knowsNodes ??= !placeAt(url).isNodeAway;
        if (!knowsNodes) throw unavailable(new Error('no node responds'));
      };
      return beforeEach(storage, unlessUnknown);
    },
  },
  'Pets and API keys are in the memory of one node': {
    foundBy: PARTIAL,
    message: /a node of three: .*(that is impossible|the time of pet)/,
    change: elsewhere(isTakenOver),
  },
  'A node that is back replaces what others have stored meanwhile': {
    foundBy: PARTIAL,
    message: /a node of three: .*that is impossible|a node of three: .*the time of pet|a node of three: .*the id/,
    change: elsewhere(isTakenOver, ({ pets, keys, claims, lastId }) => {
      return { pets: [...pets], keys: [...keys], claims: new Map(claims), lastId };
    }),
  },
};
