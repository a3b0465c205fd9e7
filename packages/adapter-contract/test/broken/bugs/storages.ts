import { setTimeout as sleep } from 'node:timers/promises';
import type { Pet } from '@animal-store/domain';
import { mapPorts } from '@animal-store/domain/ports';
import { type Bugs, type Change, ofPets } from './bug.ts';

const timersOfModule: NodeJS.Timeout[] = [];

/** The last ids by the names of places. */
const reserved = new Map<string, bigint>();

/** Bugs of opening and closing, and of what a process keeps. */
export const STORAGE_BUGS: Bugs = {
  'A connection stays open that has found a wrong format': {
    foundBy: 'rejects a place that it cannot use, and leaves it unchanged',
    message: /open after close/,
    closesFailedConnections: false,
  },
  'A wait keeps no process alive': {
    foundBy:
      'one of which creates the first pet of a new place, and closes during calls, ends with code 0 and its result',
    change: ofPets(
      'add',
      (add) =>
        (...given) =>
          sleep(50, null, { ref: false }).then(() => add(...given)),
    ),
  },
  'Calls in flight are forgotten when it is closed': {
    message: /ended with code 13/,
    foundBy:
      'one of which creates the first pet of a new place, and closes during calls, ends with code 0 and its result',
    change({ close, ...storage }) {
      let isClosed = false;
      const ports = mapPorts(storage, (method) => (...given) => {
        const unlessClosed = async () => isClosed && new Promise<never>(() => {});
        return method(...given).finally(unlessClosed);
      });
      return {
        ...ports,
        close() {
          isClosed = true;
          return close();
        },
      };
    },
  },
  'The wait for another connection keeps no process alive': {
    foundBy: 'keeps another process alive until its creation has a result or is unavailable, and then lets it end',
    change: ofPets('add', (add, { ready }) => {
      const connected = (): Promise<void> => ready().catch(() => sleep(100, null, { ref: false }).then(connected));
      return (...given) => connected().then(() => add(...given));
    }),
  },
  'A timer is set by what still ran when close returned': {
    foundBy: 'leaves no timer behind once it is closed, also none that keeps no process alive',
    change: ({ close }) => ({
      async close() {
        await close();
        setImmediate(() => setTimeout(() => {}, 1_000).unref());
      },
    }),
  },
  'One timer of a module goes on after the last close': {
    foundBy: 'leaves no timer behind once it is closed, also none that keeps no process alive',
    change({ close }) {
      timersOfModule[0] ??= setInterval(() => {}, 1_000).unref();
      return { close };
    },
  },
  'A storage works by the session of another at the same server': {
    foundBy: 'says that settings must change if its place is misconfigured, beside one that is right',
    sharesSessions: true,
  },
  'A wrong password is cached for its server': {
    foundBy: 'says that settings must change if its place is misconfigured, beside one that is right',
    cachesFailures: true,
  },
  'Ids are reserved by the name of a place': {
    foundBy: 'shares nothing with one at another place of the same name',
    message: /the last id/,
    change: ofPets('add', (add, { archive, place }, url) => async (...given) => {
      const { pathname } = new URL(url);
      const last = await archive.lastId();
      await place.setCounter(reserved.get(pathname) ?? last);
      const creation = await add(...given);
      reserved.set(pathname, creation?.pet.id ?? last);
      await place.setCounter(last);
      return creation;
    }),
  },
  'The pets that were found are kept for ever': {
    foundBy: 'keep nothing of calls that have ended',
    change(storage, url) {
      const found: unknown[] = [];
      const find: Change = ofPets('find', (right) => async (id) => {
        found.push(await right(id));
        return found.at(-1) as Pet | null;
      });
      return find(storage, url);
    },
  },
};
