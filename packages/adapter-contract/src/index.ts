/** @module @animal-store/adapter-contract */

import { afterAll, describe } from 'vitest';
import { amountsContract, archiveAmountsContract } from './amounts.ts';
import { anotherProcessContract } from './another-process.ts';
import { crowdsContract, modelContract } from './any-sequence.ts';
import { archiveDefectsContract, defectsContract } from './defects.ts';
import { interruptionsContract } from './interruptions.ts';
import { openingContract } from './opening-and-closing.ts';
import { settingsContract } from './settings.ts';
import { leading, type StorageUnderTest, TEST_LIMIT, testOf } from './storage-under-test.ts';
import { archiveValuesContract, valuesContract } from './values.ts';
import { yearsContract } from './years.ts';

export { interruptionsContract } from './interruptions.ts';
export { expectNoLateWrites } from './late-writes.ts';
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
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

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
 * @example storageContract('yours', { freshPlace, open: (file) => createYourStorage({ file }), interruptions: { locked } })
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
  describe('any sequence', () => {
    modelContract(adapter);
    crowdsContract(adapter);
  });
  describe('values', () => valuesContract(test));
  describe('amounts', () => amountsContract(test));
  describe('defects', () => defectsContract(test));
  describe('opening and closing', () => openingContract(adapter));
  describe('settings', () => settingsContract(adapter));
  if (inAnotherProcess !== undefined)
    describe('another process', () => anotherProcessContract(adapter, inAnotherProcess.bind(adapter)));
  describe('years', () => yearsContract(adapter));
}

/** The adapters whose archives are tested. */
const archivesUnderTest = new WeakSet<object>();

/** Declares the tests of a storage that has an archive, which moves pets to another place. */
export function archiveContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  archivesUnderTest.add(adapter);
  describe(`${name} fulfils the contract of an archive:`, { timeout: TEST_LIMIT }, () => {
    archiveCallsContract(adapter);
    for (const [name, lead] of Object.entries(adapter.behind ?? {}))
      describe(`behind ${name}`, () => archiveCallsContract(leading(adapter, lead)));
  });
}

/** The tests of an archive at a place that is available. */
function archiveCallsContract<Place>(adapter: StorageUnderTest<Place>): void {
  describe('values', () => archiveValuesContract(adapter));
  describe('amounts', () => archiveAmountsContract(adapter));
  describe('defects', () => archiveDefectsContract(adapter));
}
