import { storageContract } from '@animal-store/adapter-contract';
import { describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { createMongoStorage } from './index.ts';

describeWithMongo('on a server', () => {
  storageContract('mongodb', () => createMongoStorage({ url: freshDatabase() }));
});
