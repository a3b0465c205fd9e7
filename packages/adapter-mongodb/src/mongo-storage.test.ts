import { rateLimiterContract, storageContract } from '@animal-store/adapter-contract';
import { describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { onTestFinished } from 'vitest';
import { createMongoStorage } from './index.ts';

describeWithMongo('on a server', () => {
  storageContract('mongodb', () => createMongoStorage({ url: freshDatabase() }));

  rateLimiterContract('mongodb', (policy) => {
    const storage = createMongoStorage({ url: freshDatabase() });
    onTestFinished(async () => {
      await storage.close();
    });
    return storage.createRateLimiter(policy);
  });
});
