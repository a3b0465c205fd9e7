import { beforeEach, describe } from 'vitest';
import {
  archiveContract,
  behindProxy,
  type Outage,
  type ProxiedPlace,
  type StorageUnderTest,
  storageContract,
} from '../../src/index.ts';
import { BUGS } from './bugs.ts';
import {
  CREDENTIALS,
  execute,
  lock,
  openRemoteStorage,
  PASSWORD,
  type Place,
  placeAt,
  startServer,
} from './remote-storage.ts';

const { PART, PARTS } = process.env;

/** Changes a place, and takes it back. */
const changed = (begin: Partial<Place>, end: Partial<Place>): Outage<ProxiedPlace> => ({
  begin: ({ url }) => void Object.assign(placeAt(url), begin),
  end: ({ url }) => void Object.assign(placeAt(url), end),
});

const locks = new Map<string, () => void>();

/** Another program keeps the file of a place locked for writing. */
const locked: Outage<ProxiedPlace> = {
  begin: ({ url }) => void locks.set(url, lock(url)),
  end: ({ url }) => locks.get(url)?.(),
};

const SQLITE = { module: import.meta.resolve('@animal-store/adapter-sqlite'), name: 'createSqliteStorage' };
const OTHER = new URL('another-process.ts', import.meta.url).href;

/** What another process opens, by the bug. */
const OTHERS: Readonly<Record<string, { readonly module: string; readonly name: string }>> = {
  'A wait keeps no process alive': { module: OTHER, name: 'createWaitingStorage' },
  'Calls in flight are forgotten when it is closed': { module: OTHER, name: 'createForgettingStorage' },
  'The wait for another connection keeps no process alive': { module: OTHER, name: 'createRetryingStorage' },
  'An idempotency key is looked up, then stored, under a lock of the process': {
    module: OTHER,
    name: 'createConnectingStorage',
  },
};

function adapterWith(bug: string): StorageUnderTest<ProxiedPlace> {
  const { outage = 'cut', behind, change, ...options } = BUGS[bug] ?? {};
  const proxied = behindProxy({
    freshPlace: startServer,
    open(url) {
      const storage = openRemoteStorage(url, options);
      return { ...storage, ...change?.(storage, url) };
    },
    inAnotherProcess: (url) => ({
      ...(OTHERS[bug] ?? SQLITE),
      options: { file: placeAt(url).file, port: Number(new URL(url).port) },
      flags: ['--conditions=@animal-store/source'],
    }),
    misconfiguredPlaces: async () => [(await startServer()).replace(`:${PASSWORD}`, ''), 'zoo'],
  });
  return {
    ...proxied,
    // It runs each test a second time.
    ...(behind && { behind: { [behind]: ({ url, proxy }) => ({ url: `${url}?behind`, proxy }) } }),
    // One of them, because each takes seconds.
    outages: bug === 'none' ? proxied.outages : { [outage]: proxied.outages[outage] },
    partialOutages: { 'a partition': changed({ isPartAway: true }, { isPartAway: false }) },
    waits: { locked },
    laterFormat: changed({ format: 3 }, { format: 1 }),
    losses: { 'taken away': { line: /^the place was lost$/, ...changed({ isLost: true }, { isLost: false }) } },
    deletePet: ({ url }, id) => execute(url, `DELETE FROM pets WHERE id = ${id}`),
    setCounterBack({ url }) {
      execute(url, 'DELETE FROM sqlite_sequence');
      placeAt(url).isCounterBack = true;
    },
    secrets: [PASSWORD, CREDENTIALS],
  };
}

// A proxy in this process, as a test of an adapter has one, sets timers, too.
setInterval(() => setTimeout(() => {}, 1_000).unref(), 50).unref();

for (const [index, bug] of ['none', ...Object.keys(BUGS)].entries()) {
  if (index % Number(PARTS) !== Number(PART)) continue;
  describe(bug, () => {
    beforeEach(({ task, skip }) => skip(bug !== 'none' && task.name !== BUGS[bug]?.foundBy));
    const adapter = adapterWith(bug);
    storageContract('a copy', adapter);
    archiveContract('a copy', adapter);
  });
}
