import { rateLimiterContract, storageContract } from '@animal-store/adapter-contract';
import { describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { createMongoStorage } from '../src/index.ts';
import { openStorage } from './fixtures.ts';

describeWithMongo('on a server', () => {
  storageContract('mongodb', () => createMongoStorage({ url: freshDatabase() }));

  rateLimiterContract('mongodb', (policy) => openStorage({ url: freshDatabase() }).createRateLimiter(policy));
});
