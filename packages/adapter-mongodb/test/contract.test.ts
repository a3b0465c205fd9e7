import {
  archiveContract,
  behindProxy,
  type ProxiedPlace,
  type StorageUnderTest,
  storageContract,
} from '@animal-store/adapter-contract';
import { databaseAt, describeWithMongo } from '@animal-store/test-mongodb';
import type { CollectionInfo } from 'mongodb';
import { createMongoStorage } from '../src/index.ts';
import { freshStorage } from './fixtures.ts';
import { freshPlace } from './fresh-place.ts';

/** Gives all collections the schema of a format. */
async function setFormat(url: string, format: number): Promise<void> {
  const db = databaseAt(url);
  const title = `format ${format}`;
  const collections: CollectionInfo[] = await db.listCollections({ name: { $not: /^system\./ } }).toArray();
  for (const { name, options } of collections) {
    await db.command({ collMod: name, validator: { $jsonSchema: { ...options?.['validator'].$jsonSchema, title } } });
  }
}

describeWithMongo('on a server', () => {
  const password = 'a password that no user has';
  const adapter: StorageUnderTest<ProxiedPlace> = {
    ...behindProxy({
      freshPlace: async () => (await freshStorage()).url,
      open: (url) => createMongoStorage({ url }),
      misconfiguredPlaces: () => [freshPlace().replace('//', `//zoo:${encodeURIComponent(password)}@`)],
    }),
    laterFormat: { begin: ({ url }) => setFormat(url, 1_000), end: ({ url }) => setFormat(url, 1) },
    secrets: [password, encodeURIComponent(password)],
  };
  storageContract('mongodb', adapter);
  archiveContract('mongodb', adapter);
});
