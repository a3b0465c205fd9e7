import { behindProxy, type Outage, type ProxiedPlace, type StorageUnderTest } from '../../src/index.ts';
import { CREDENTIALS } from './bugs/bug.ts';
import { BUGS, openCopy } from './bugs.ts';
import { type Place, placeAt, startEngine } from './engine.ts';

/** Changes a place, and takes it back. */
const changed = (begin: Partial<Place>, end: Partial<Place>): Outage<ProxiedPlace> => ({
  begin: ({ url }) => void Object.assign(placeAt(url), begin),
  end: ({ url }) => void Object.assign(placeAt(url), end),
});

const [freshPlace, twinAt] = [await startEngine(CREDENTIALS), await startEngine(CREDENTIALS)];
const PASSWORD = CREDENTIALS.replace('zoo:', '');
const module = new URL('bugs.ts', import.meta.url).href;

export function adapterWith(bug: string): StorageUnderTest<ProxiedPlace> {
  const { outage = 'cut', behind } = BUGS[bug] ?? {};
  const flags = ['--conditions=@animal-store/source'];
  const proxied = behindProxy({
    freshPlace: () => freshPlace(),
    twin: (url) => twinAt(new URL(url).pathname),
    open: (url) => openCopy({ url, bug }),
    inAnotherProcess: (url) => ({ module, name: 'openCopy', options: { url, bug }, flags }),
    misconfiguredPlaces: (url) => [url.replace(`:${PASSWORD}`, ''), 'zoo'],
  });
  return {
    ...proxied,
    // It runs each test a second time.
    ...(behind && { behind: { [behind]: ({ url, proxy }) => ({ url: `${url}?behind`, proxy }) } }),
    // One of them, because each takes seconds.
    outages: bug === 'none' ? proxied.outages : { [outage]: proxied.outages[outage] },
    partialOutages: {
      'a partition': { ...changed({ isPartAway: true }, { isPartAway: false }), passes: true },
      'a node of three': {
        ...changed({ isNodeAway: true, readyUntilElection: 10 }, { isNodeAway: false, readyUntilElection: 0 }),
        takenOverWithin: 5_000,
      },
    },
    waits: {
      locked: {
        begin: ({ url }) => void Object.assign(placeAt(url), { lock: Promise.withResolvers() }),
        end: ({ url }) => placeAt(url).lock?.resolve(),
      },
    },
    laterFormat: changed({ format: 3 }, { format: 1 }),
    losses: { 'taken away': { line: /^the place was lost$/, ...changed({ isLost: true }, { isLost: false }) } },
    deletePet({ url }, id) {
      const place = placeAt(url);
      place.pets = place.pets.filter((pet) => pet.id !== id);
    },
    setCounterBack: ({ url }) => void Object.assign(placeAt(url), { lastId: 0n, isCounterBack: true }),
    secrets: [PASSWORD],
  };
}
