/** @module @animal-store/adapter-contract */

import { afterAll, describe } from 'vitest';
import { apiKeyRepositoryContract } from './api-key-repository-contract.ts';
import { archivesUnderTest } from './archive-contract.ts';
import { creatingContract } from './creating-contract.ts';
import { idempotencyContract } from './idempotency-contract.ts';
import { interruptionsContract } from './interruptions-contract.ts';
import { listingContract } from './listing-contract.ts';
import { modelContract } from './model-contract.ts';
import { placeContract } from './place-contract.ts';
import { sharedPlaceContract } from './shared-place-contract.ts';
import { leading, type StorageUnderTest, TEST_LIMIT, testOf } from './storage-under-test.ts';
import { twoProcessesContract } from './two-processes-contract.ts';

export { archiveContract } from './archive-contract.ts';
export { expectNoLateWrites, interruptionsContract } from './interruptions-contract.ts';
export { added, apiKey, everyKey, everyPage, idempotencyOf, rex } from './samples.ts';
export {
  behindProxy,
  type ExportedFunction,
  type Interruption,
  type Interruptions,
  type Operator,
  type ProxiedPlace,
  proxied,
  type StorageUnderTest,
} from './storage-under-test.ts';
export { joinProxies, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** What was not given, although a test needs it. */
function absentOf<Place>(adapter: StorageUnderTest<Place>): string[] {
  const { operator = {} } = adapter;
  const members = ['interruptions', 'inAnotherProcess', 'misconfiguredPlaces', 'twin', 'behind', 'secrets'] as const;
  const ofOperator = ['deletePet', 'setCounterBack', 'expire'] as const;
  return [
    ...members.filter((member) => [undefined, 'not tested'].includes(adapter[member] as string)),
    ...ofOperator.filter((member) => operator[member] === undefined).map((member) => `operator.${member}`),
    ...(archivesUnderTest.has(adapter) ? [] : ['archiveContract']),
  ];
}

/**
 * Declares every test that a storage adapter must pass, and writes a line with what was not given, so that no test has passed
 * for it.
 *
 * @param name The adapter's name, for the report.
 * @example storageContract('sqlite', { freshPlace: freshFile, open: (file) => createSqliteStorage({ file }), interruptions: { locked } })
 */
export function storageContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  const { interruptions, behind = {} } = adapter;
  if (Object.keys(interruptions).length === 0)
    throw new Error("interruptions is empty: name one, or write 'not tested'");
  describe(`${name} fulfils the contract of a storage:`, { timeout: TEST_LIMIT }, () => {
    callsContract(adapter);
    if (interruptions !== 'not tested') interruptionsContract(adapter, interruptions);
    for (const [name, lead] of Object.entries(behind)) {
      describe(`behind ${name}`, () => callsContract(leading(adapter, lead)));
    }
    afterAll(() => {
      const absent = absentOf(adapter);
      if (absent.length > 0) console.warn(`${name} was not tested with: ${absent.join(', ')}`);
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
