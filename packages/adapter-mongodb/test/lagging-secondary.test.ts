import { archiveContract, type StorageUnderTest, storageContract } from '@animal-store/adapter-contract';
import {
  describeWithPartitions,
  type PartitionableSet,
  startPartitionableSet,
} from '@animal-store/test-servers/mongodb';
import { afterAll, beforeAll } from 'vitest';
import { createMongoStorage } from '../src/index.ts';
import { isReady } from './fixtures.ts';

/** How late the second member gets what the primary has written, in milliseconds. */
const LAG = 100;

describeWithPartitions('on a set whose second member lags, and whose URL lets reads go there', () => {
  let set: PartitionableSet;
  beforeAll(async () => {
    set = await startPartitionableSet(10_000);
    const [primary, second] = set.members;
    set.delayResponses(second, primary, LAG);
  });
  afterAll(() => set?.stop());

  const adapter: StorageUnderTest<string> = {
    async freshPlace() {
      const url = `${set.url(`test_${crypto.randomUUID()}`)}&readPreference=secondaryPreferred`;
      // A new database takes longer than a call on three members.
      await (await isReady(createMongoStorage({ url }))).close();
      return url;
    },
    open: (url) => createMongoStorage({ url }),
    interruptions: 'not tested',
  };
  storageContract('mongodb', adapter);
  archiveContract('mongodb', adapter);
});
