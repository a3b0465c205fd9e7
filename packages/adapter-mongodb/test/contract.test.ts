import { rateLimiterContract, storageContract } from '@animal-store/adapter-contract';
import { behindProxy, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { inject } from 'vitest';
import { createMongoStorage } from '../src/index.ts';
import { openStorage } from './fixtures.ts';

describeWithMongo('on a server', () => {
  // A server that the environment names may be one that no proxy leads to: of several members, or with TLS.
  const server = inject('mongodb');
  if ('containers' in server && server.containers) {
    storageContract('mongodb', {
      freshPlace: () => behindProxy(freshDatabase()),
      open: ({ url }) => createMongoStorage({ url }),
      interrupt: ({ proxy }) => proxy.swallow(),
      restore: ({ proxy }) => proxy.pass(),
    });
  } else {
    storageContract('mongodb', { freshPlace: freshDatabase, open: (url) => createMongoStorage({ url }) });
  }

  rateLimiterContract('mongodb', (policy) => openStorage({ url: freshDatabase() }).createRateLimiter(policy));
});
