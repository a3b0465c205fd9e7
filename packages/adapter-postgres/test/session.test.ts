import { added, rex } from '@animal-store/adapter-contract';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import {
  describeWithPostgres,
  freshDatabase,
  schemaOf,
  serverUrl,
  sql,
  withOptions,
} from '@animal-store/test-servers/postgres';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startSession } from '../src/session.ts';
import { asRole, openStorage } from './fixtures.ts';

/** A setting of a connection that the adapter has prepared. */
async function settingOf(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await startSession(client);
  return (await client.query(`SHOW ${name}`)).rows[0][name];
}

describeWithPostgres('a connection', () => {
  test.each([
    ['remote_apply', 'remote_apply'],
    ['remote_write', 'on'],
    ['local', 'on'],
  ])('whose synchronous_commit was %s has %s', async (given, used) => {
    const url = withOptions(freshDatabase(), `-c synchronous_commit=${given}`);
    expect(await settingOf(url, 'synchronous_commit')).toBe(used);
  });

  test('has the settings of the adapter although its role has others', async () => {
    const settings = [
      ['statement_timeout', '20s', '1500ms'],
      ['lock_timeout', '5s', '0'],
      ['idle_session_timeout', '50s', '0'],
      ['synchronous_commit', 'off', 'on'],
      ['client_encoding', 'LATIN1', 'UTF8'],
      ['default_transaction_isolation', 'serializable', 'read committed'],
      ['plan_cache_mode', 'force_custom_plan', 'force_generic_plan'],
    ] as const;
    const ofRole = settings.map(([name, value]) => `ALTER ROLE SET ${name} = '${value}';`);
    const { url } = await asRole(freshDatabase(), ofRole.join(' '));
    for (const [name, , own] of settings) expect(await settingOf(url, name), name).toBe(own);
  });

  test('has a session of its own, which a pooler in transaction mode gives to several clients', async () => {
    const client = new pg.Client({ connectionString: serverUrl() });
    await client.connect();
    onTestFinished(() => client.end());
    await startSession(client);
    await expect(startSession(client)).rejects.toThrow(/^a pooler must be in session mode, /);
    // As a pooler in session mode does.
    await client.query('DISCARD ALL');
    await startSession(client);
  });

  test('leads to a database with any name, with any password and a space in its options', async () => {
    const [name, password] = [`my@db/?#%&= ${crypto.randomUUID()}`, " p@:/?#%41%'&+ "];
    const role = `role_${crypto.randomUUID().slice(0, 8)}`;
    const literal = `'${password.replaceAll("'", "''")}'`;
    await sql(`CREATE ROLE ${role} LOGIN PASSWORD ${literal}`);
    onTestFinished(async () => void (await sql(`DROP ROLE ${role}`)));
    await sql(`CREATE DATABASE "${name}" OWNER ${role}`);
    onTestFinished(async () => void (await sql(`DROP DATABASE "${name}" WITH (FORCE)`)));
    const url = new URL(serverUrl());
    const credentials = `${role}:${encodeURIComponent(password)}`;
    const options = '?options=-c search_path=public -c work_mem=7MB';
    const given = `postgres://${credentials}@${url.host}/${encodeURIComponent(name)}${options}`;
    expect(await added(openStorage(given).pets)).toMatchObject(rex());
  });

  test('is closed if the server is read-only, until it can be written again', async () => {
    const { url, role } = await asRole(freshDatabase());
    await sql(`GRANT ALL ON SCHEMA ${schemaOf(url)} TO ${role}`);
    const storage = openStorage(url);
    const pet = await added(storage.pets);
    await sql(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    const readOnly = { message: 'the server is read-only: a standby, or set to read-only' };
    for (const call of [() => storage.ready(), () => added(storage.pets), () => storage.pets.find(1n)]) {
      // The first call may still find a connection that was just closed.
      await expect.poll(() => failureOf(call), { timeout: 10_000 }).toMatchObject({ cause: readOnly });
    }
    await sql(`ALTER ROLE ${role} RESET default_transaction_read_only`);
    expect(await storage.pets.find(1n)).toEqual(pet);
  });
});

describeWithPostgres('search_path', () => {
  const tablesIn = (schema: string) =>
    sql(`SELECT relname FROM pg_class WHERE relname = 'pets' AND relnamespace = '${schema}'::regnamespace`);

  test('of the role names the schema of the tables, for poolers that reject options in the URL', async () => {
    const schema = schemaOf(freshDatabase());
    const { url, role } = await asRole(serverUrl(), `ALTER ROLE SET search_path = ${schema}`);
    await sql(`GRANT ALL ON SCHEMA ${schema} TO ${role}`);
    expect(await added(openStorage(url).pets)).toMatchObject(rex());
    expect(await tablesIn(schema)).toHaveLength(1);
  });

  test('leads to the first schema that has the tables, and makes a new database in its first', async () => {
    const [one, two] = [schemaOf(freshDatabase()), schemaOf(freshDatabase())];
    const at = (path: string) => withOptions(serverUrl(), `-c search_path=${path}`);
    const pet = await added(openStorage(at(`${two},${one}`)).pets);
    expect([await tablesIn(one), await tablesIn(two)]).toEqual([[], [{ relname: 'pets' }]]);
    expect(await openStorage(at(`nowhere,${one},${two}`)).pets.find(pet.id)).toEqual(pet);
    expect(await tablesIn(one)).toEqual([]);
  });
});

describeWithPostgres('the operator gets one line about', () => {
  test.each([
    ['a missing database', '/animals', '/nowhere', /^the database does not exist: create it: database "nowhere"/],
    ['a missing schema', /test_\w+/, 'nowhere', /^the schema in which tables are created does not exist, or /],
    ['a wrong user', /\/\/[^@]*@/, '//nobody:secret@', /^the server rejects the user or the password: (?!.*secret)/],
    [
      'an unknown option',
      '-c',
      '-c%20nonsense=1%20-c',
      /^the server rejects the connection: unrecognized .*"nonsense"$/,
    ],
    ['a value out of range', '-c', '-c%20work_mem=1%20-c', /^the server rejects the connection: 1 kB is outside /],
    [
      'a missing role',
      '-c',
      '-c%20role=nobody%20-c',
      /^the server rejects the connection: role "nobody" does not exist$/,
    ],
  ])('%s', async (_, part, other, line) => {
    const storage = openStorage(freshDatabase().replace(part, other));
    expect(misconfigurationOf(await failureOf(storage.ready))).toMatch(line);
  });

  test('a missing password', async () => {
    const cause = { message: expect.stringMatching(/password/) };
    const failure = await failureOf(openStorage(freshDatabase().replace(/:[^:@]*@/, '@')).ready);
    expect(failure).toMatchObject({ code: 'storage_unavailable', cause });
  });

  test('a database whose encoding is not UTF8', async () => {
    const name = `latin_${crypto.randomUUID().slice(0, 8)}`;
    await sql(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    const storage = openStorage(serverUrl().replace('/animals', `/${name}`));
    expect(misconfigurationOf(await failureOf(storage.ready))).toBe(
      'the database has the encoding LATIN1: create one with the encoding UTF8',
    );
  });
});
