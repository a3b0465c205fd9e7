import { behindProxy, storageContract } from '@animal-store/adapter-contract';
import { describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { createMongoStorage } from '../src/index.ts';
import { freshStorage } from './fixtures.ts';

describeWithMongo('on a server', () => {
  const password = 'a password that no user has';
  const adapter = behindProxy({
    freshPlace: async () => (await freshStorage()).url,
    open: (url: string) => createMongoStorage({ url }),
    misconfiguredPlace: () => freshDatabase().replace('//', `//zoo:${encodeURIComponent(password)}@`),
    secrets: [password, encodeURIComponent(password)],
  });
  storageContract('mongodb', adapter);
});
