import {
  archiveContract,
  behindProxy,
  type Loss,
  type ProxiedPlace,
  type StorageUnderTest,
  storageContract,
} from '@animal-store/adapter-contract';
import { databaseAt, describeWithMongo } from '@animal-store/test-servers/mongodb';
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

/** Collections that an administrator renames, which keep their UUIDs. */
function renamed(...names: string[]): Loss<ProxiedPlace> {
  return {
    line: /^the collection \w+ is missing: restore the database$/,
    async begin({ url }) {
      for (const name of names) await databaseAt(url).renameCollection(name, `away_${name}`);
    },
    async end({ url }) {
      for (const name of names) await databaseAt(url).renameCollection(`away_${name}`, name);
    },
  };
}

describeWithMongo('on a server', () => {
  const password = 'a password that no user has';
  const adapter: StorageUnderTest<ProxiedPlace> = {
    ...behindProxy({
      freshPlace: async () => (await freshStorage()).url,
      open: (url) => createMongoStorage({ url }),
      misconfiguredPlaces: () => [freshPlace().replace('//', `//zoo:${encodeURIComponent(password)}@`)],
    }),
    losses: {
      'pets renamed': renamed('pets'),
      'counters renamed': renamed('counters'),
      'API keys renamed': renamed('api_keys'),
      'everything renamed': renamed('pets', 'counters', 'api_keys'),
    },
    laterFormat: { begin: ({ url }) => setFormat(url, 1_000), end: ({ url }) => setFormat(url, 1) },
    secrets: [password, encodeURIComponent(password)],
  };
  storageContract('mongodb', adapter);
  archiveContract('mongodb', adapter);
});
