import { IMAGE } from '@animal-store/test-servers/postgres/server';
import { expect, inject, test } from 'vitest';
import { addressOf, cli, docker, documented, startContainer } from './programs.ts';

/** Starts a server for the running test, and returns ways to run commands beside it. */
async function startServer() {
  const id = await startContainer('--publish=127.0.0.1::5432', '--env=POSTGRES_PASSWORD=secret', IMAGE);
  const address = await addressOf(id, 5432);
  /** Runs a line in the shell of the user postgres. An image may ask for the password at the socket, too; Debian does not. */
  const asPostgres = (line: string) =>
    docker('exec', '--user=postgres', '--env=PGPASSWORD=secret', id, 'sh', '-c', line);
  // The image's first server has no TCP.
  await expect.poll(() => asPostgres('pg_isready --host 127.0.0.1').catch(String)).toContain('accepting');
  /** Runs a line in that shell as a role of the server. */
  const as = (role: string, line: string) => asPostgres(`export PGHOST=127.0.0.1 PGUSER=${role}; cd; ${line}`);
  /** Runs the command line as a role. */
  const cliAs = (role: string, command: string) =>
    cli({ STORAGE: 'postgres', POSTGRES_URL: `postgres://${role}:secret@${address}/animals` }, command);
  return { asPostgres, as, cliAs };
}

test.skipIf(inject('missing').includes('image'))(
  'the commands of the manual create a database, grant a role its rights, and dump and restore every pet',
  async () => {
    const { asPostgres, as, cliAs } = await startServer();
    const role = (name: string) => asPostgres(`psql --command "CREATE ROLE ${name} LOGIN PASSWORD 'secret'"`);
    const insert = (pet: string) =>
      as('animal_store', `psql --dbname animals --command "INSERT INTO pets (name, category_id) VALUES ('${pet}', 1)"`);

    await role('animals');
    const createdb = documented('storage-postgres.md', /createdb --owner animals.*/);
    await asPostgres(createdb);
    await cliAs('animals', 'keys issue --holder zoo');
    await role('animal_store');
    const grants = documented('storage-postgres.md', /GRANT USAGE ON SCHEMA[^`]*/);
    await as('animals', `psql --dbname animals --set ON_ERROR_STOP=1 --command '${grants}'`);
    await cliAs('animal_store', 'keys issue --holder zoo');
    await insert('Rex');

    await asPostgres('cd; pg_dump --format custom --file animals.dump animals');
    await asPostgres('psql --command "ALTER DATABASE animals RENAME TO former"');
    await asPostgres(createdb);
    const restore = documented('storage-postgres.md', /pg_restore [^`]*/);
    await as('animals', restore);
    await insert('Max');
    const pets = await cliAs('animal_store', 'pets list --all');
    expect(pets.trim().split('\n')).toEqual([
      '{"id":1,"name":"Rex","categoryId":1}',
      expect.stringMatching(/^\{"id":10000\d\d,"name":"Max"/),
    ]);
  },
  120_000,
);
