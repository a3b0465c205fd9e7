import { creatingContract } from '../src/creating-contract.ts';
import { behindProxy } from '../src/index.ts';
import { keyStoreContract } from '../src/key-store-contract.ts';
import { duringOutages, outageContract } from '../src/outage-contract.ts';
import { placeContract } from '../src/place-contract.ts';
import type { Outage, ProxiedPlace } from '../src/storage-under-test.ts';
import { PASSWORD, startDatabase } from './server.ts';
import { type Bug, createTestStorage } from './storage.ts';

type Adapter = ReturnType<typeof testAdapter>;

/** The adapter for the server of these tests, with one error or none. */
export function testAdapter(bug?: Bug) {
  return behindProxy({
    freshPlace: startDatabase,
    open: (url) => createTestStorage(url, bug),
    misconfiguredPlace: async () => (await startDatabase()).replace(`:${PASSWORD}`, ''),
    secrets: [PASSWORD],
  });
}

/** A part of the contract, and the titles of its tests that must fail. */
interface Expectation {
  declare(adapter: Adapter): void;
  readonly fails: readonly string[];
}

const only = (name: string, adapter: Adapter) => ({ [name]: adapter.outages[name] as Outage<ProxiedPlace> });

/** Calls fail at once if the connections are cut, so that these tests are quick. */
const cutOnly = (adapter: Adapter) => outageContract(adapter, only('cut', adapter));

export const EXPECTATIONS: Readonly<Record<Bug, Expectation>> = {
  'a COMMIT that failed is swallowed': {
    declare: cutOnly,
    fails: ['keeps acknowledged pets, one for each idempotency key, through an outage during creations'],
  },
  'the pool loses a connection with every tenth failure': {
    declare: cutOnly,
    fails: ['serves many calls at once after many have failed'],
  },
  'a creation is repeated if the connection breaks': {
    declare: cutOnly,
    fails: ['stores no pet twice in a short outage during creations'],
  },
  'a pet is stored before its key, and removed if the key is taken': {
    declare(adapter) {
      placeContract(adapter);
      outageContract(adapter, only('lost responses', adapter));
    },
    fails: [
      'create one pet for an idempotency key that both are given at once, and never hide it again',
      'works again, with all that it acknowledged, as does a storage that was opened meanwhile',
      'keeps acknowledged pets, one for each idempotency key, through an outage during creations',
    ],
  },
  'an error contains the URL': {
    declare: cutOnly,
    fails: ['ends every call within 5 seconds, as unavailable if it fails, and finds all that exists'],
  },
  'there is no timeout': {
    declare: (adapter) => duringOutages(adapter, only('silent', adapter)),
    fails: ['ends every call within 5 seconds, as unavailable if it fails, and finds all that exists'],
  },
  'calls are rejected while many wait for a connection': {
    declare: creatingContract,
    fails: ['serves a thousand calls at once, of each kind'],
  },
  'a lookup in flight caches a key that was revoked': {
    declare: keyStoreContract,
    fails: [
      'shows a revocation to every find that begins after it, although others are in flight',
      'moves the last use forward only, also for many uses at once, and ignores that of an unknown key',
    ],
  },
  'times are stored in the time zone of the process': {
    declare: placeContract,
    fails: ['returns the times of an API key in every time zone'],
  },
  'a misconfiguration is a plain error': {
    declare: placeContract,
    fails: ['says that settings must change if its place is misconfigured'],
  },
};
