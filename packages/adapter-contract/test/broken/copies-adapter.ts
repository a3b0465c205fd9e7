import { behindProxy, type Interruption, type ProxiedPlace, type StorageUnderTest } from '../../src/index.ts';
import { CREDENTIALS } from './bugs/bug.ts';
import { BUGS, openCopy } from './bugs.ts';
import { type Place, placeAt, startEngine } from './engine.ts';

/** Changes a place, and takes it back. */
const changed = (begin: Partial<Place>, end: Partial<Place>): Pick<Interruption<ProxiedPlace>, 'begin' | 'end'> => ({
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
    open: (url, number) => openCopy({ url, bug, number }),
    inAnotherProcess: (url) => ({ module, name: 'openCopy', options: { url, bug }, flags }),
    misconfiguredPlaces: (url) => [url.replace(`:${PASSWORD}`, ''), 'zoo'],
  });
  return {
    ...proxied,
    // It runs each test a second time.
    ...(behind && { behind: { [behind]: ({ url, proxy }) => ({ url: `${url}?behind`, proxy }) } }),
    interruptions: {
      // One of them, because each takes seconds.
      ...(bug === 'none' ? proxied.interruptions : { [outage]: proxied.interruptions[outage] }),
      locked: {
        leaves: 'reads',
        begin: ({ url }) => void Object.assign(placeAt(url), { lock: Promise.withResolvers() }),
        end: ({ url }) => placeAt(url).lock?.resolve(),
      },
      'taken away': {
        leaves: 'nothing',
        line: /^the place was lost$/,
        ...changed({ isLost: true }, { isLost: false }),
      },
      'a partition': { leaves: 'a part', passes: true, ...changed({ isPartAway: true }, { isPartAway: false }) },
      'a node of three': {
        leaves: { allWithin: 5_000 },
        ...changed({ isNodeAway: true, readyUntilElection: 10 }, { isNodeAway: false, readyUntilElection: 0 }),
      },
      'a later format': { leaves: 'open storages', ...changed({ format: 3 }, { format: 1 }) },
    },
    operator: {
      deletePet({ url }, id) {
        const place = placeAt(url);
        place.pets = place.pets.filter((pet) => pet.id !== id);
      },
      setCounterBack: ({ url }) => void Object.assign(placeAt(url), { lastId: 0n, isCounterBack: true }),
    },
    secrets: [PASSWORD],
  };
}
