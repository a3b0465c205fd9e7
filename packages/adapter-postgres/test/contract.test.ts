import {
  archiveContract,
  behindProxy,
  type Interruption,
  type ProxiedPlace,
  type StorageUnderTest,
  storageContract,
} from '@animal-store/adapter-contract';
import { describeWithPostgres, lockTables, schemaOf, sql, withOptions } from '@animal-store/test-servers/postgres';
import { createPostgresStorage } from '../src/index.ts';
import { asOwner, closeConnections, connect, newDatabase, untilReady } from './fixtures.ts';
import { freshPlace } from './fresh-place.ts';

const password = 'a password that no user has';

/** Ends the locks of a place, by place. */
const locks = new Map<string, () => Promise<void>>();

/** A table that an administrator renames. */
const renamed = (name: string): Interruption<ProxiedPlace> => ({
  leaves: 'nothing',
  line: /^the table \w+ is now \w+\.away, which /,
  begin: async ({ url }) => void (await sql(`ALTER TABLE ${name} RENAME TO away`, url)),
  end: async ({ url }) => void (await sql(`ALTER TABLE away RENAME TO ${name}`, url)),
});

const replaced: Interruption<ProxiedPlace> = {
  leaves: 'nothing',
  line: /^the database is not the one that this process has used: restart the process$/,
  async begin({ url }) {
    const schema = schemaOf(url);
    const create = `CREATE SCHEMA ${schema} AUTHORIZATION ${new URL(url).username}`;
    await sql(`ALTER SCHEMA ${schema} RENAME TO away_${schema}; ${create}`);
    await using another = createPostgresStorage({ url });
    await untilReady(another.ready);
  },
  async end({ url }) {
    const schema = schemaOf(url);
    await sql(`DROP SCHEMA ${schema} CASCADE; ALTER SCHEMA away_${schema} RENAME TO ${schema}`);
  },
};

describeWithPostgres('on a server', () => {
  const proxied = behindProxy({
    freshPlace: async () => (await asOwner(freshPlace())).url,
    open: (url, number) => createPostgresStorage({ url, pool: { max: 5 + number } }),
    inAnotherProcess: (url) => ({
      module: new URL('../src/index.ts', import.meta.url).href,
      name: 'createPostgresStorage',
      options: { url },
      flags: ['--conditions=@animal-store/source'],
    }),
    // The same schema in another database.
    async twin(url) {
      const database = await newDatabase();
      await (await connect(database)).query(`CREATE SCHEMA ${schemaOf(url)}`);
      return withOptions(database, `-c search_path=${schemaOf(url)}`);
    },
    misconfiguredPlaces: (url) => [url.replace(/\/\/.*@/, `//zoo:${encodeURIComponent(password)}@`)],
  });
  const adapter: StorageUnderTest<ProxiedPlace> = {
    ...proxied,
    interruptions: {
      ...proxied.interruptions,
      locked: {
        leaves: 'reads',
        begin: async ({ url }) => void locks.set(url, await lockTables(url)),
        end: async ({ url }) => locks.get(url)?.(),
      },
      'read-only': {
        leaves: 'nothing',
        begin: async ({ url }) => {
          const { username } = new URL(url);
          await sql(`ALTER ROLE ${username} SET default_transaction_read_only = on`);
          await closeConnections(username);
        },
        end: async ({ url }) => void (await sql(`ALTER ROLE ${new URL(url).username} RESET ALL`)),
      },
      'no right to write': {
        leaves: 'reads',
        begin: async ({ url }) =>
          void (await sql(`REVOKE INSERT, UPDATE ON pets, api_keys FROM ${new URL(url).username}`, url)),
        end: async ({ url }) =>
          void (await sql(`GRANT INSERT, UPDATE ON pets, api_keys TO ${new URL(url).username}`, url)),
      },
      'credentials expired': {
        leaves: 'nothing',
        begin: async ({ url }) => {
          const { username } = new URL(url);
          await sql(`ALTER ROLE ${username} NOLOGIN`);
          await closeConnections(username);
        },
        end: async ({ url }) => void (await sql(`ALTER ROLE ${new URL(url).username} LOGIN`)),
      },
      'pets renamed': renamed('pets'),
      'API keys renamed': renamed('api_keys'),
      'the format renamed': renamed('animal_store'),
      'everything dropped and created anew, empty': replaced,
      'a later format': {
        leaves: 'open storages',
        begin: async ({ url }) => void (await sql('UPDATE animal_store SET format = format + 1', url)),
        end: async ({ url }) => void (await sql('UPDATE animal_store SET format = format - 1', url)),
      },
    },
    operator: {
      deletePet: async ({ url }, id) => void (await sql(`DELETE FROM pets WHERE id = ${id}`, url)),
      setCounterBack: async ({ url }) => void (await sql("SELECT setval('pets_id_seq', 1, false)", url)),
    },
    secrets: [password],
  };
  storageContract('postgres', adapter);
  archiveContract('postgres', adapter);
});
