import { added, rex } from '@animal-store/adapter-contract';
import { failureOf } from '@animal-store/test-kit/failures';
import {
  describeWithPostgres,
  freshDatabase,
  schemaOf,
  serverUrl,
  sql,
  withOptions,
} from '@animal-store/test-servers/postgres';
import { expect, test } from 'vitest';
import { startSession } from '../src/session.ts';
import { asRole, connect, freshStorage, lineOf, newDatabase, openStorage } from './fixtures.ts';

describeWithPostgres('a connection', () => {
  test.each<[string, string, string, number?]>([
    ['statement_timeout', '20s', '1600ms'],
    ['transaction_timeout', '20s', '0', 17],
    ['lock_timeout', '5s', '0'],
    ['idle_session_timeout', '50s', '0'],
    ['tcp_keepalives_idle', '7200', '10'],
    ['tcp_keepalives_interval', '75', '5'],
    ['tcp_keepalives_count', '9', '3'],
    ['tcp_user_timeout', '1h', '25000'],
    ['synchronous_commit', 'off', 'on'],
    ['synchronous_commit', 'local', 'on'],
    ['synchronous_commit', 'remote_write', 'on'],
    ['synchronous_commit', 'remote_apply', 'remote_apply'],
    ['client_encoding', 'LATIN1', 'UTF8'],
    ['default_transaction_isolation', 'serializable', 'read committed'],
    ['plan_cache_mode', 'force_custom_plan', 'force_generic_plan'],
  ])('has its own %s although its role has %s: %s', async (name, ofRole, own, since = 15) => {
    const [known] = await sql(`SELECT WHERE current_setting('server_version_num')::integer >= ${since}0000`);
    const { url } = await asRole(freshDatabase(), known && `ALTER ROLE SET ${name} = '${ofRole}'`);
    const client = await connect(url);
    await startSession(client);
    const { rows } = await client.query(`SELECT current_setting('${name}', true) AS setting`);
    expect(rows).toEqual([{ setting: known ? own : null }]);
  });

  test('has a session of its own, which a pooler in transaction mode gives to several clients', async () => {
    const client = await connect(serverUrl());
    await startSession(client);
    await expect(startSession(client)).rejects.toThrow(/^a pooler must be in session mode, /);
    // As a pooler in session mode does.
    await client.query('DISCARD ALL');
    await startSession(client);
  });

  test('does not serve reads if the server is read-only', async () => {
    const { url } = await asRole(freshDatabase(), 'ALTER ROLE SET default_transaction_read_only = on');
    const cause = { message: 'the server is read-only: a standby, or set to read-only' };
    expect(await failureOf(() => openStorage(url).pets.find(1n))).toMatchObject({ cause });
  });
});

describeWithPostgres('search_path', () => {
  const tablesIn = (schema: string) =>
    sql(`SELECT relname FROM pg_class WHERE relname = 'pets' AND relnamespace = '${schema}'::regnamespace`);

  test('of the role names the schema of the tables, for poolers that reject options in the URL', async () => {
    const schema = schemaOf(freshDatabase());
    const { url, role } = await asRole(serverUrl(), `ALTER ROLE SET search_path = ${schema}`);
    await sql(`GRANT ALL ON SCHEMA ${schema} TO ${role}`);
    const { pets } = await freshStorage(url);
    expect(await added(pets)).toMatchObject(rex());
    expect(await tablesIn(schema)).toHaveLength(1);
  });

  test('leads to the first schema that has the tables, and makes a new database in its first', async () => {
    const [one, two] = [schemaOf(freshDatabase()), schemaOf(freshDatabase())];
    const at = (path: string) => withOptions(serverUrl(), `-c search_path=${path}`);
    const { pets } = await freshStorage(at(`${two},${one}`));
    const pet = await added(pets);
    expect([await tablesIn(one), await tablesIn(two)]).toEqual([[], [{ relname: 'pets' }]]);
    expect(await openStorage(at(`nowhere,${one},${two}`)).pets.find(pet.id)).toEqual(pet);
    expect(await tablesIn(one)).toEqual([]);
  });
});

describeWithPostgres('the operator gets one line about', () => {
  test.each<[string, string | RegExp, string, RegExp]>([
    [
      'a missing database',
      '/animals',
      '/nowhere',
      /^the database does not exist: correct the URL, or create it: database "nowhere"/,
    ],
    ['a missing schema', /test_\w+/, 'nowhere', /^the schema in which tables are created does not exist, or /],
    ['a wrong user', /\/\/[^@]*@/, '//nobody:secret@', /^the server rejects the user or the password: (?!.*secret)/],
    [
      'an unknown option',
      '-c',
      '-c%20nonsense=1%20-c',
      /^the server rejects the connection: unrecognized .*"nonsense"$/,
    ],
    ['a value out of range', '-c', '-c%20work_mem=1%20-c', /^the server rejects the connection: 1 kB is outside /],
    ['a missing role', '-c', '-c%20role=nobody%20-c', /^the server rejects the connection: role "nobody" does not /],
  ])('%s', async (_, part, other, line) => {
    expect(await lineOf(openStorage(freshDatabase().replace(part, other)).ready)).toMatch(line);
  });

  test('a database whose encoding is not UTF8', async () => {
    const { ready } = openStorage(await newDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"));
    expect(await lineOf(ready)).toBe('the database has the encoding LATIN1: create one with the encoding UTF8');
  });
});
