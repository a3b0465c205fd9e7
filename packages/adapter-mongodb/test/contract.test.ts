import { behindProxy, sharedRateLimiterContract, storageContract } from '@animal-store/adapter-contract';
import { describeWithMongo } from '@animal-store/test-mongodb';
import { inject } from 'vitest';
import { createMongoStorage } from '../src/index.ts';
import { freshPlace } from './fresh-place.ts';

describeWithMongo('on a server', () => {
  const direct = { freshPlace, open: (url: string) => createMongoStorage({ url }) };
  const server = inject('mongodb');
  if ('containers' in server && server.containers) {
    const password = 'a password that no user has';
    const adapter = behindProxy({
      ...direct,
      misconfiguredPlace: () => freshPlace().replace('//', `//zoo:${encodeURIComponent(password)}@`),
      secrets: [password, encodeURIComponent(password)],
    });
    storageContract('mongodb', adapter);
    sharedRateLimiterContract('mongodb', adapter);
  } else {
    // A server that the environment names may be one that no proxy leads to: of several members, or with TLS.
    storageContract('mongodb', direct);
    sharedRateLimiterContract('mongodb', direct);
  }
});
