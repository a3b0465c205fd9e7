import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OWNER, PROCESS } from '@animal-store/test-servers/containers';
import { expect, inject, onTestFinished, test } from 'vitest';
import { docker, POSTGRES_IMAGE } from './programs.ts';

const ROOT = new URL('../../../', import.meta.url);

/** What a page has between two texts of its own. */
function documented(page: string, begin: string, end: string): string {
  const text = readFileSync(new URL(`docs/${page}`, ROOT), 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from + begin.length);
  if (from < 0 || to < 0) throw new Error(`docs/${page} has no ${begin}…${end}`);
  return text.slice(from, to);
}

/** Starts a server for the running test, and returns ways to run commands beside it. */
async function startServer() {
  const id = await docker(
    ...[
      'run',
      '--detach',
      `--label=${OWNER}=${PROCESS}`,
      '--publish=127.0.0.1::5432',
      '--env=POSTGRES_PASSWORD=secret',
    ],
    POSTGRES_IMAGE,
  );
  onTestFinished(async () => {
    await docker('rm', '--force', '--volumes', id);
  });
  const [, port = ''] = /:(\d+)$/.exec(await docker('port', id, '5432/tcp')) ?? [];
  /** Runs a line in the shell of the user postgres. An image may ask for the password at the socket, too; Debian does not. */
  const asPostgres = (line: string) =>
    docker('exec', '--user=postgres', '--env=PGPASSWORD=secret', id, 'sh', '-c', line);
  // The image's first server has no TCP.
  await expect.poll(() => asPostgres('pg_isready --host 127.0.0.1').catch(String)).toContain('accepting');
  const url = (role: string, database: string, server = '127.0.0.1:5432') =>
    `postgres://${role}:secret@${server}/${database}`;
  /** Runs the command line as a role. */
  const cli = async (role: string, database: string, command: string) => {
    const main = fileURLToPath(new URL('apps/cli/src/main.ts', ROOT));
    const environment = { STORAGE: 'postgres', POSTGRES_URL: url(role, database, `127.0.0.1:${port}`) };
    const words = ['--conditions=@animal-store/source', main, ...command.split(' ')];
    return (await promisify(execFile)(process.execPath, words, { env: environment })).stdout;
  };
  return { asPostgres, url, cli };
}

test.skipIf(inject('noContainers') !== null)(
  'the commands of the manual create a database, grant a role its rights, and dump and restore every pet',
  async () => {
    const { asPostgres, url, cli } = await startServer();
    const role = (name: string) => asPostgres(`psql --command "CREATE ROLE ${name} LOGIN PASSWORD 'secret'"`);
    const as = (name: string, database: string, words: string) =>
      asPostgres(`POSTGRES_URL=${url(name, database)}; cd; ${words}`);

    await role('animals');
    const createdb = documented('storage-postgres.md', 'createdb --owner animals', '\n');
    await asPostgres(createdb);
    await cli('animals', 'animals', 'keys issue --holder zoo');
    await role('animal_store');
    const grants = documented('storage-postgres.md', 'GRANT USAGE ON SCHEMA', '```');
    await as('animals', 'animals', `psql "$POSTGRES_URL" --set ON_ERROR_STOP=1 --command '${grants}'`);
    await cli('animal_store', 'animals', 'keys issue --holder zoo');
    await as(
      'animal_store',
      'animals',
      `psql "$POSTGRES_URL" --command "INSERT INTO pets (name, category_id) VALUES ('Rex', 1)"`,
    );

    // cron replaces \% before a shell gets the line.
    const job = documented('operations.md', 'umask 077; ', '\n```').replaceAll('\\%', '%');
    await asPostgres(job);
    const dumps = () => asPostgres('cd; stat --format "%a %s %n" animals-*');
    const dumped = await dumps();
    expect(dumped).toMatch(/^600 \d+ animals-[1-7]\.dump$/);

    await asPostgres('psql --command "ALTER DATABASE animals RENAME TO former"');
    await expect(asPostgres(job)).rejects.toThrow('does not exist');
    expect(await dumps()).toContain(dumped);

    await asPostgres(createdb);
    const restore = documented('storage-postgres.md', 'pg_restore ', '`').replace(' animals.dump', ' animals-*.dump');
    await as('animals', 'animals', restore);
    const skip = documented('storage-postgres.md', 'psql "$POSTGRES_URL" --command "SELECT setval', '\n');
    await as('animals', 'animals', skip);
    await as(
      'animal_store',
      'animals',
      `psql "$POSTGRES_URL" --command "INSERT INTO pets (name, category_id) VALUES ('Max', 1)"`,
    );
    const pets = await cli('animal_store', 'animals', 'pets list --all');
    expect(pets.trim().split('\n')).toEqual([
      '{"id":1,"name":"Rex","categoryId":1}',
      expect.stringMatching(/^\{"id":10000\d\d,"name":"Max"/),
    ]);
  },
  120_000,
);
