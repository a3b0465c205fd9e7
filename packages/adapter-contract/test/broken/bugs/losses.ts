import { mapPorts, StorageMisconfigured } from '@animal-store/domain/ports';
import { LOST, newPlace, type Operations, operationsOn, type Place, placeAt } from '../engine.ts';
import { type Bugs, type Change, ofPets, unavailable } from './bug.ts';

/** Makes its calls, but `ready`, at another place while something is so: an empty one, or a copy of its own. */
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
    return { pets: portOf('pets'), keys: portOf('keys'), archive: portOf('archive') };
  };
}

/** Bugs of calls while a place, or a part of it, is lost. */
export const LOSS_BUGS: Bugs = {
  'says that what was stored is gone, makes nothing in its place, and works again once it is back': {
    'A new connection makes an empty place where one was lost, unless the one before has met the loss': {
      message: /for the operator/,
      change({ ready }, url) {
        let [hasMet, isMadeAnew] = [false, false];
        return {
          ready: () =>
            ready().catch((failure) => {
              const meets = failure.cause?.message === LOST;
              isMadeAnew ||= placeAt(url).isLost && !meets && !hasMet;
              hasMet ||= meets;
              throw isMadeAnew ? unavailable(new StorageMisconfigured('the place is another one')) : failure;
            }),
        };
      },
    },
    'Only ready notices that a place was dropped and created anew': elsewhere(({ isLost }) => isLost),
    'A storage is ready before it can create pets again, after a loss': {
      message: /taken away: .* unavailable/,
      change: ofPets('add', (add, _, url) => {
        let left = 0;
        return async (...given) => {
          if (placeAt(url).isLost) left = 4;
          left -= 1;
          if (left > 0) throw unavailable(new Error('a broken connection'));
          return add(...given);
        };
      }),
    },
  },
  'is right or unavailable without a part of its place, and not ready if a call is unavailable': {
    'A list lacks the pets of a partition that is away': {
      message: /a partition: that is impossible/,
      change: ofPets('list', (list, _, url) => async (selection) => {
        const place = placeAt(url);
        if (!place.isPartAway) return list(selection);
        return (await operationsOn(place).pets.list(selection)).filter(({ id }) => id % 3n > 0n);
      }),
    },
    'The error of a partition that is away is thrown as a defect': {
      message: /a partition: .*a partition is away|^Error: a partition is away/,
      change: ofPets('list', (list, _, url) => (selection) => {
        return list(selection).catch((failure) => {
          throw placeAt(url).isPartAway ? failure.cause : failure;
        });
      }),
    },
    'A storage is ready while a partition is away': {
      message: /`ready` fails if another call is unavailable/,
      change: ({ ready }, url) => ({ ready: async () => (placeAt(url).isPartAway ? undefined : ready()) }),
    },
    'A partition that joins again is taken for a wrong setting': {
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
      message: /a partition: .* unavailable/,
      change(storage, url) {
        const fail = async () => {
          throw unavailable(new Error('no node responds'));
        };
        return placeAt(url).isPartAway ? { ...mapPorts(storage, () => fail), ready: fail } : {};
      },
    },
    'A node that is back replaces what others have stored meanwhile': {
      message: /a node of three: .*that is impossible|a node of three: .*the time of pet|a node of three: .*the id/,
      change: elsewhere(
        ({ isNodeAway, readyUntilElection }) => isNodeAway && readyUntilElection === 0,
        ({ pets, keys, lastId }) => ({ pets: [...pets], keys: [...keys], lastId }),
      ),
    },
  },
};
