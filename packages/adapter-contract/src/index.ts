/** @module @animal-store/adapter-contract */

import { describe, test } from 'vitest';
import { creatingContract } from './creating-contract.ts';
import { idempotencyContract } from './idempotency-contract.ts';
import { keyStoreContract } from './key-store-contract.ts';
import { listingContract } from './listing-contract.ts';
import { outageContract } from './outage-contract.ts';
import { placeContract } from './place-contract.ts';
import type { StorageUnderTest } from './storage-under-test.ts';

export { rateLimiterContract, sharedRateLimiterContract } from './rate-limiter-contract.ts';
export { behindProxy, type Outage, type ProxiedPlace, type StorageUnderTest } from './storage-under-test.ts';
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Suffices for a storage across a network on a busy machine; tests of outages have a limit of their own. In milliseconds. */
const TEST_LIMIT = 120_000;

/** Title of a skipped test. */
const OUTAGES_NOT_TESTED =
  'OUTAGES ARE NOT TESTED, because the adapter passes no `outages`: nothing shows that calls fail in time, and that the storage recovers';

/**
 * Declares every test that a storage adapter must pass. All of them hold for every adapter; tests of
 * outages need `outages`; a skipped test says so if they are missing.
 *
 * @param name The adapter's name, for the report.
 * @example storageContract('sqlite', { freshPlace: freshFile, open: (file) => createSqliteStorage({ file }) })
 */
export function storageContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  describe(`${name} fulfils the contract of a storage:`, { timeout: TEST_LIMIT }, () => {
    creatingContract(adapter);
    listingContract(adapter);
    idempotencyContract(adapter);
    keyStoreContract(adapter);
    placeContract(adapter);
    if (adapter.outages !== undefined) outageContract(adapter);
    else test.skip(OUTAGES_NOT_TESTED);
  });
}
