/** @module @animal-store/adapter-contract */

import { afterAll, describe } from 'vitest';
import { apiKeyRepositoryContract } from './api-key-repository-contract.ts';
import { archivesUnderTest } from './archive-contract.ts';
import { creatingContract } from './creating-contract.ts';
import { idempotencyContract } from './idempotency-contract.ts';
import { listingContract } from './listing-contract.ts';
import { modelContract } from './model-contract.ts';
import { lossContract, outageContract } from './outage-contract.ts';
import { partialOutageContract } from './partial-outage-contract.ts';
import { placeContract } from './place-contract.ts';
import { sharedPlaceContract } from './shared-place-contract.ts';
import { leading, type StorageUnderTest, TEST_LIMIT, testOf } from './storage-under-test.ts';
import { twoProcessesContract } from './two-processes-contract.ts';

export { archiveContract } from './archive-contract.ts';
export { expectNoLateWrites } from './late-writes.ts';
export { partialOutageContract } from './partial-outage-contract.ts';
export { added, apiKey, everyKey, everyPage, idempotencyOf, rex } from './samples.ts';
export {
  behindProxy,
  type ExportedFunction,
  type Loss,
  type Outage,
  type Outages,
  type PartialOutage,
  type PartialOutages,
  type ProxiedPlace,
  proxied,
  type StorageUnderTest,
} from './storage-under-test.ts';
export { joinProxies, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** A test needs each of them. */
const OPTIONAL = [
  'twin',
  'behind',
  'deletePet',
  'setCounterBack',
  'outages',
  'partialOutages',
  'waits',
  'losses',
  'misconfiguredPlaces',
  'laterFormat',
  'expire',
  'secrets',
  'inAnotherProcess',
] as const;

/**
 * Declares every test that a storage adapter must pass, and writes a line with what was not given, so that no test has passed
 * for it.
 *
 * @param name The adapter's name, for the report.
 * @example storageContract('sqlite', { freshPlace: freshFile, open: (file) => createSqliteStorage({ file }), outages: { locked } })
 */
export function storageContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  const { outages, partialOutages, losses, behind = {} } = adapter;
  if (Object.keys(outages).length === 0) throw new Error("outages is empty: name one, or write 'not tested'");
  describe(`${name} fulfils the contract of a storage:`, { timeout: TEST_LIMIT }, () => {
    callsContract(adapter);
    if (outages !== 'not tested') outageContract(adapter, outages);
    if (partialOutages !== undefined) partialOutageContract(adapter, partialOutages);
    if (losses !== undefined) lossContract(adapter, losses);
    for (const [name, lead] of Object.entries(behind)) {
      describe(`behind ${name}`, () => callsContract(leading(adapter, lead)));
    }
    afterAll(() => {
      const absent = OPTIONAL.filter((member) => [undefined, 'not tested'].includes(adapter[member] as string));
      const untested = archivesUnderTest.has(adapter) ? absent : [...absent, 'archiveContract'];
      if (untested.length > 0) console.warn(`${name} was not tested with: ${untested.join(', ')}`);
    });
  });
}

/** The tests of calls at a place that is available. */
function callsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const { inAnotherProcess } = adapter;
  const test = testOf(adapter);
  describe('creating and reading', () => creatingContract(test));
  describe('listing', () => listingContract(test));
  describe('creating with an idempotency key', () => idempotencyContract(test));
  describe('API keys', () => apiKeyRepositoryContract(test));
  describe('a storage', () => placeContract(adapter));
  describe('two storages at one place', () => sharedPlaceContract(adapter));
  describe('storages at one place', () => modelContract(adapter));
  if (inAnotherProcess !== undefined) {
    describe('two processes at one place', () => twoProcessesContract(adapter, inAnotherProcess.bind(adapter)));
  }
}
