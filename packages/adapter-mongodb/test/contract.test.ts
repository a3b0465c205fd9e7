import { behindProxy, storageContract } from '@animal-store/adapter-contract';
import { describeWithMongo } from '@animal-store/test-mongodb';
import { createMongoStorage } from '../src/index.ts';
import { freshPlace } from './fresh-place.ts';

describeWithMongo('on a server', () => {
  const password = 'a password that no user has';
  const adapter = behindProxy({
    freshPlace,
    open: (url: string) => createMongoStorage({ url }),
    misconfiguredPlace: () => freshPlace().replace('//', `//zoo:${encodeURIComponent(password)}@`),
    secrets: [password, encodeURIComponent(password)],
  });
  storageContract('mongodb', adapter);
});
