import {
  archiveContract,
  behindProxy,
  type Interruption,
  type ProxiedPlace,
  type StorageUnderTest,
  storageContract,
} from '@animal-store/adapter-contract';
import { databaseAt, describeWithMongo } from '@animal-store/test-servers/mongodb';
import type { PetDocument } from '../src/documents.ts';
import { createMongoStorage } from '../src/index.ts';
import { FORMAT } from '../src/schema.ts';
import { dumpsOf, freshStorage, isReady } from './fixtures.ts';

/** Gives all collections the schema of a format. */
async function setFormat(url: string, format: number): Promise<void> {
  for (const { name, options } of await dumpsOf(url)) {
    const $jsonSchema = { ...options['validator'].$jsonSchema, title: `format ${format}` };
    await databaseAt(url).command({ collMod: name, validator: { $jsonSchema } });
  }
}

/** Collections that an administrator renames, which keep their UUIDs. */
function renamed(...names: string[]): Interruption<ProxiedPlace> {
  return {
    leaves: 'nothing',
    line: /^the collection \w+ is missing: restore the database$/,
    async begin({ url }) {
      for (const name of names) await databaseAt(url).renameCollection(name, `away_${name}`);
    },
    async end({ url }) {
      for (const name of names) await databaseAt(url).renameCollection(`away_${name}`, name);
    },
  };
}

const COLLECTIONS = ['pets', 'counters', 'api_keys'];
const allRenamed = renamed(...COLLECTIONS);

const replaced: Interruption<ProxiedPlace> = {
  leaves: 'nothing',
  line: /^the database is not the one that this process has used: restart the process$/,
  async begin(place) {
    await allRenamed.begin(place);
    await (await isReady(createMongoStorage(place))).close();
  },
  async end(place) {
    for (const name of COLLECTIONS) await databaseAt(place.url).dropCollection(name);
    await allRenamed.end(place);
  },
};

describeWithMongo('on a server', () => {
  const password = 'a password that no user has';
  const proxied = behindProxy({
    freshPlace: async () => (await freshStorage()).url,
    open: (url) => createMongoStorage({ url }),
    inAnotherProcess: (url) => ({
      module: new URL('../src/index.ts', import.meta.url).href,
      name: 'createMongoStorage',
      options: { url },
      flags: ['--conditions=@animal-store/source'],
    }),
    misconfiguredPlaces: (url) => [url.replace('//', `//zoo:${encodeURIComponent(password)}@`)],
  });
  const adapter: StorageUnderTest<ProxiedPlace> = {
    ...proxied,
    interruptions: {
      ...proxied.interruptions,
      'pets renamed': renamed('pets'),
      'counters renamed': renamed('counters'),
      'API keys renamed': renamed('api_keys'),
      'everything renamed': allRenamed,
      'everything dropped and created anew, empty': replaced,
      'a later format': {
        leaves: 'open storages',
        begin: ({ url }) => setFormat(url, FORMAT + 1),
        end: ({ url }) => setFormat(url, FORMAT),
      },
    },
    operator: {
      deletePet: async ({ url }, id) =>
        void (await databaseAt(url).collection<PetDocument>('pets').deleteOne({ _id: id })),
      async setCounterBack({ url }) {
        const counters = databaseAt(url).collection<{ _id: string }>('counters');
        await counters.updateOne({ _id: 'pets' }, { $set: { last: 0n } });
      },
    },
    secrets: [password],
  };
  storageContract('mongodb', adapter);
  archiveContract('mongodb', adapter);
});
