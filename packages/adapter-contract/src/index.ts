/** @module @animal-store/adapter-contract */

import { afterAll, describe } from 'vitest';
import { amountsContract, archiveAmountsContract } from './amounts.ts';
import { anotherProcessContract } from './another-process.ts';
import { anySequenceContract } from './any-sequence.ts';
import { archiveDefectsContract, defectsContract } from './defects.ts';
import { interruptionsContract } from './interruptions.ts';
import { openingContract } from './opening-and-closing.ts';
import { settingsContract } from './settings.ts';
import { type StorageUnderTest, TEST_LIMIT } from './storage-under-test.ts';
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

/** The adapters whose archives are tested. */
const archivesUnderTest = new WeakSet<object>();

type Kinds = Readonly<Record<string, <Place>(adapter: StorageUnderTest<Place>) => void>>;

/** The kinds of checks at a place that is available. */
const KINDS = {
  'any sequence': anySequenceContract,
  values: valuesContract,
  amounts: amountsContract,
  defects: defectsContract,
  'opening and closing': openingContract,
  settings: settingsContract,
  years: yearsContract,
} satisfies Kinds;

/** Those of an archive. */
const ARCHIVE_KINDS = {
  values: archiveValuesContract,
  amounts: archiveAmountsContract,
  defects: archiveDefectsContract,
} satisfies Kinds;

/** Declares checks at places of an adapter, and at each that a proxy of its author leads to. */
function declare<Place>(adapter: StorageUnderTest<Place>, kinds: Kinds): void {
  for (const [kind, contract] of Object.entries(kinds)) describe(kind, () => contract(adapter));
  for (const [name, lead] of Object.entries(adapter.behind ?? {})) {
    const freshPlace = async () => lead(await adapter.freshPlace());
    describe(`behind ${name}`, () => declare({ ...adapter, behind: {}, freshPlace }, kinds));
  }
}

/**
 * Declares every test that a storage adapter must pass, and writes a line with what was not given, so that no test has passed
 * for it.
 *
 * @param name The adapter's name, for the report.
 * @example storageContract('yours', { freshPlace, open: (file) => createYourStorage({ file }), interruptions: { locked } })
 */
export function storageContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  const { interruptions, inAnotherProcess } = adapter;
  if (Object.keys(interruptions).length === 0)
    throw new Error("interruptions is empty: name one, or write 'not tested'");
  describe(`${name} fulfils the contract of a storage:`, { timeout: TEST_LIMIT }, () => {
    declare(adapter, inAnotherProcess ? { ...KINDS, 'another process': anotherProcessContract } : KINDS);
    if (interruptions !== 'not tested') interruptionsContract(adapter, interruptions);
    afterAll(() => {
      const absent = absentOf(adapter);
      if (absent.length > 0) console.warn(`${name} was not tested with: ${absent.join(', ')}`);
    });
  });
}

/** Declares the tests of a storage that has an archive, which moves pets to another place. */
export function archiveContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  archivesUnderTest.add(adapter);
  const title = `${name} fulfils the contract of an archive:`;
  describe(title, { timeout: TEST_LIMIT }, () => declare(adapter, ARCHIVE_KINDS));
}
