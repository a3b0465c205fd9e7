import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { added, apiKey, idempotencyOf, proxied, rex } from '@animal-store/adapter-contract';
import { ALL_PETS, type Storage } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, freshDatabase, lockTables, serverUrl, sql } from '@animal-store/test-servers/postgres';
import { expect, onTestFinished, test } from 'vitest';
import type { PostgresStorageOptions } from '../src/index.ts';
import { parseUrl } from '../src/url.ts';
import {
  asOwner,
  closeConnections,
  connect,
  freshStorage,
  leading,
  lineOf,
  newDatabase,
  openStorage,
  untilReady,
} from './fixtures.ts';

const run = promisify(execFile);

/** On a busy machine the opening takes longer than a call. */
const UNTIL_READY = 'while (await ready().then(() => false, () => true));';

describeWithPostgres('the pool', () => {
  test.each<[number, PostgresStorageOptions['pool']]>([
    [5, undefined],
    [2, { max: 2 }],
    [9, { max: 9 }],
  ])('has %i connections at most, and serves reads and writes with them', async (max, pool) => {
    const { proxy, url } = await proxied(freshDatabase());
    const { keys, ready } = openStorage(url, pool && { pool });
    await untilReady(ready);
    await Promise.all(
      Array.from({ length: 20 }, () => [keys.list({ after: '', limit: 20 }), keys.add(apiKey())]).flat(),
    );
    expect(proxy.connections()).toBe(max);
  });

  test.each(['list', 'add'] as const)('replaces every idle connection once one is silent: keys.%s', async (method) => {
    const { proxy, url } = await proxied(freshDatabase());
    const { keys, ready } = openStorage(url);
    await untilReady(ready);
    const calls = { list: () => keys.list({ after: '', limit: 20 }), add: () => keys.add(apiKey()) };
    const useAll = () => Promise.all(Array.from({ length: 9 }, () => [calls.list(), calls.add()]).flat());
    await useAll();
    proxy.passNew();
    await expect(calls[method]()).rejects.toMatchObject({ code: 'storage_unavailable' });
    await useAll();
  });

  test('writes nothing for a call that has waited too long for a connection', async () => {
    let opening: Promise<void> | null = null;
    const url = await leading(freshDatabase(), async (host) => {
      await opening;
      return host;
    });
    const { pets, ready } = openStorage(url);
    // Opens a connection for reads.
    expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 1 })).toEqual([]);
    const { promise, resolve } = Promise.withResolvers<void>();
    opening = promise;
    const timeout = { code: 'storage_unavailable', cause: { message: 'no response within 2200 ms' } };
    await expect(added(pets)).rejects.toMatchObject(timeout);
    resolve();
    // As long as a statement takes that follows late.
    for (let count = 0; count < 50; count += 1) await failureOf(ready);
    expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 1 })).toEqual([]);
  });

  test('writes nothing for a call that has waited for another one, and then too long for a connection', async () => {
    const place = freshDatabase();
    let opening: Promise<void> | null = null;
    const url = await leading(place, async (host) => {
      await opening;
      return host;
    });
    const { pets, ready } = openStorage(url, { pool: { max: 2 } });
    await untilReady(ready);
    const pet = await added(pets);
    const unlock = await lockTables(place);
    const { promise, resolve } = Promise.withResolvers<void>();
    opening = promise;
    const locked = failureOf(() => added(pets));
    await expect
      .poll(() => sql("SELECT FROM pg_locks WHERE NOT granted AND relation = 'pets'::regclass", place))
      .not.toEqual([]);
    const late = failureOf(() => added(pets));
    await sql(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'pets'::regclass",
      place,
    );
    expect(await locked).toMatchObject({ cause: { code: '57P01' } });
    expect(await late).toMatchObject({ cause: { message: 'no response within 2200 ms' } });
    await unlock();
    resolve();
    // As long as a statement takes that follows late.
    for (let count = 0; count < 50; count += 1) await failureOf(ready);
    expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 9 })).toEqual([pet]);
  });

  test('begins no write whose call has failed, also if the network or a stopped server has held it back', async () => {
    const { proxy, url } = await proxied(`${freshDatabase()}&application_name=held`);
    const { pets, keys, archive, ready } = openStorage(url);
    await untilReady(ready);
    const key = apiKey();
    await keys.add(key);
    const pet = await added(pets);
    const stored = async () => [
      await pets.list({ ...ALL_PETS, after: 0n, limit: 9 }),
      await keys.list({ after: '', limit: 9 }),
    ];
    const before = await stored();
    const working = () => sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'held' AND state <> 'idle'");
    const writes = [
      () => added(pets),
      () => added(pets, rex(), idempotencyOf(rex(), 'k')),
      () => Promise.all([added(pets), added(pets)]),
      () => keys.add(apiKey()),
      () => keys.revoke(key.id, 5),
      () => keys.recordUse(key.id, 5),
      () => archive?.restore([{ ...pet, id: 70n, createdAt: 1 }]),
      () => archive?.skipIds(1_000n),
    ];
    for (const write of writes) {
      await untilReady(ready);
      proxy.holdRequests();
      expect(await failureOf(write)).toMatchObject({ code: 'storage_unavailable' });
      proxy.deliver();
      await sleep(500);
      await expect.poll(working, { timeout: 10_000 }).toEqual([]);
    }
    expect(await stored()).toEqual(before);
    expect(await archive?.lastId()).toBeLessThan(1_000n);
  });

  test('stores no pet whose creation has failed, however long a lock lasts', async () => {
    const { pets, url } = await freshStorage();
    await added(pets);
    const unlock = await lockTables(url);
    const names = Array.from({ length: 50 }, (_, index) => `Max ${index}`);
    const failed = names.map(async (name, index) => {
      await sleep(60 * index);
      return (await failureOf(() => added(pets, rex({ name })))) ? [name] : [];
    });
    await sleep(2_400);
    await unlock();
    const all = (await Promise.all(failed)).flat();
    expect(all).not.toEqual([]);
    await untilReady(openStorage(url).ready);
    const stored = (await sql('SELECT name FROM pets', url)).map(({ name }) => name);
    expect(stored.filter((name) => all.includes(name as string))).toEqual([]);
  });

  test('creates the tables on a server that takes longer for them than a call', async () => {
    // Another process of the same database creates its tables.
    const url = await newDatabase();
    const other = await connect(url);
    await other.query('SELECT pg_advisory_lock(4711000037)');
    const { ready } = openStorage(url);
    const failure = await failureOf(ready);
    await other.query('SELECT pg_advisory_unlock_all()');
    expect(failure).toMatchObject({ cause: { message: 'no response within 2200 ms' } });
    expect(await failureOf(ready)).toBeNull();
  });

  /** A trigger of somebody else that fails for each new pet whose name is not Max. */
  const trigger = (body: string) =>
    `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.name <> 'Max' THEN ${body}; END IF; RETURN NEW; END $$;
    CREATE TRIGGER broken BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION broken()`;
  const failsIn = (reason: string) =>
    new RegExp(
      `^a trigger or a function of an administrator fails, correct it: PL/pgSQL function broken\\(\\): ${reason}`,
    );
  const tooFew = (rest: string) => new RegExp(`^the role has too few privileges: ${rest}$`);

  test.each<[string, (storage: Storage) => Promise<unknown>, line: RegExp | null, ofReady: RegExp | null]>([
    ['', ({ pets }) => pets.add(rex({ name: 'x'.repeat(201) })), null, null],
    [
      'REVOKE INSERT ON pets FROM r',
      ({ pets }) => added(pets),
      tooFew('permission denied for table pets'),
      tooFew('it lacks INSERT on pets'),
    ],
    [
      'REVOKE UPDATE ON api_keys FROM r',
      ({ keys }) => keys.recordUse('0'.repeat(16), 1),
      tooFew('permission denied for table api_keys'),
      tooFew('it lacks UPDATE on api_keys'),
    ],
    [trigger('DELETE FROM nowhere'), ({ pets }) => added(pets), failsIn('relation "nowhere" does not exist'), null],
    [trigger('NEW.id = NEW.nothing'), ({ pets }) => added(pets), failsIn('record "new" has no field "nothing"'), null],
    [trigger('PERFORM nothing()'), ({ pets }) => added(pets), failsIn('function nothing\\(\\) does not exist'), null],
    [trigger('DELETE FROM pg_authid'), ({ pets }) => added(pets), failsIn('permission denied for .*'), null],
    [
      'ALTER TABLE pets DROP CONSTRAINT pets_known_status, ALTER status TYPE integer USING 1',
      ({ pets }) => added(pets),
      /^the tables are not as Animal Store has created them: column "status" is of type integer/,
      null,
    ],
  ])(
    'keeps its connections, and those of others, if a statement fails alone: %s',
    async (change, call, line, ofReady) => {
      const { url, role } = await asOwner(freshDatabase());
      const storage = openStorage(url);
      await untilReady(storage.ready);
      const pet = await added(storage.pets);
      const all = () => [
        storage.pets.find(pet.id),
        storage.keys.list({ after: '', limit: 1 }),
        failureOf(storage.ready),
      ];
      await Promise.all([...all(), ...all()]);
      const connections = () => sql(`SELECT pid FROM pg_stat_activity WHERE usename = '${role}' ORDER BY pid`);
      const before = await connections();
      await sql(change.replace(/ r$/, ` ${role}`), url);
      for (let index = 0; index < 5; index += 1) {
        const isPossible = change.includes('TRIGGER') ? added(storage.pets, rex({ name: 'Max' })) : null;
        const [failure, failureOfReady] = await Promise.all([() => call(storage), storage.ready].map(failureOf));
        if (line === null) expect(failure).toMatchObject({ constraint: 'pets_name_length' });
        else expect(misconfigurationOf(failure)).toMatch(line);
        if (ofReady === null) expect(failureOfReady).toBeNull();
        else expect(misconfigurationOf(failureOfReady)).toMatch(ofReady);
        if (isPossible !== null) expect(await isPossible).toMatchObject({ name: 'Max' });
        await storage.pets.find(pet.id);
      }
      expect(await connections()).toEqual(expect.arrayContaining([...before]));
    },
  );

  test.each([
    ['40001', 0.3],
    ['40P01', 0],
  ])(
    'repeats a statement that is rolled back with %s after %f s, and gives up before its call',
    async (code, delay) => {
      const { pets, url } = await freshStorage();
      await sql(
        `CREATE SEQUENCE tries;
      CREATE TABLE again AS SELECT 4 AS tries, 0::float8 AS seconds;
      CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(seconds) FROM again;
        IF nextval('tries') < (SELECT tries FROM again) THEN RAISE SQLSTATE '${code}'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER again BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION again()`,
        url,
      );
      const tries = async () => Number((await sql('SELECT last_value FROM tries', url))[0]?.['last_value']);
      expect(await added(pets)).toMatchObject(rex());
      expect(await tries()).toBe(4);
      await sql(`UPDATE again SET tries = 1000, seconds = ${delay}`, url);
      await expect(added(pets)).rejects.toMatchObject({
        code: 'storage_unavailable',
        // The server ends the last attempt if the call has less time left than it takes.
        cause: { code: expect.stringMatching(delay > 0 ? `${code}|57014` : code) },
      });
      // The first creation took 4.
      expect(await tries()).toBeLessThanOrEqual(14);
    },
  );

  test.each(['in flight', 'abandoned'])('closes the connection of a write without a response: %s', async (stage) => {
    const { proxy, url } = await proxied(freshDatabase());
    const { keys, ready, close } = openStorage(url);
    await untilReady(ready);
    proxy.loseResponses();
    const write = failureOf(() => keys.add(apiKey()));
    await expect.poll(() => sql('SELECT FROM api_keys', url)).toHaveLength(1);
    if (stage === 'abandoned') await write;
    await close();
    await expect.poll(proxy.connections).toBe(0);
    expect(await write).toMatchObject({ code: 'storage_unavailable' });
  });

  test('keeps no process alive, even if it is never closed', async () => {
    const module = JSON.stringify(new URL('../src/index.ts', import.meta.url));
    const program = `
      const { createPostgresStorage } = await import(${module});
      const { ready } = createPostgresStorage({ url: process.argv[1] });
      ${UNTIL_READY}
      process.stdout.write('ready');`;
    const flags = ['--conditions=@animal-store/source', '--input-type=module', '--eval', program];
    // Less than the age at which connections are closed.
    const options = { timeout: 45_000 };
    expect(await run(process.execPath, [...flags, freshDatabase()], options)).toMatchObject({ stdout: 'ready' });
  });

  test('keeps no process alive after it is closed, even if the server has stopped responding', async () => {
    const url = new URL(freshDatabase());
    const forward = `
      net.createServer((client) => client.pipe(net.connect(${url.port}, '${url.hostname}')).pipe(client))
        .listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
    const proxy = spawn(process.execPath, ['--eval', forward]);
    onTestFinished(() => void proxy.kill('SIGKILL'));
    url.port = String((await once(proxy.stdout, 'data'))[0]).trim();
    url.hostname = '127.0.0.1';
    const module = JSON.stringify(new URL('../src/index.ts', import.meta.url));
    const program = `
      const { createPostgresStorage } = await import(${module});
      const { keys, ready, close } = createPostgresStorage({ url: '${url}' });
      ${UNTIL_READY}
      const list = () => keys.list({ after: '', limit: 20 });
      await Promise.all([list(), list(), keys.revoke('0'.repeat(16), 1)]);
      process.kill(${proxy.pid}, 'SIGSTOP');
      await ready().catch(() => {});
      // Meanwhile the idle connections are closed.
      await new Promise((resolve) => setTimeout(resolve, 100));
      await close();
      process.stdout.write('closed');`;
    const flags = ['--conditions=@animal-store/source', '--input-type=module', '--eval', program];
    expect(await run(process.execPath, flags, { timeout: 45_000 })).toMatchObject({ stdout: 'closed' });
  });
});

describeWithPostgres('the password of the pool', () => {
  test('is asked for by each new connection, so that it may change', async () => {
    const { url, role } = await asOwner(freshDatabase());
    let token = 'secret';
    const pool = { password: async () => token };
    const { pets, ready } = openStorage(url.replace(':secret@', ':expired@'), { pool });
    await untilReady(ready);
    token = 'another';
    await sql(`ALTER ROLE ${role} PASSWORD '${token}'`);
    await closeConnections(role);
    await untilReady(ready);
    expect(await added(pets)).toMatchObject(rex());
  });

  test.each<[string, () => unknown, string | RegExp]>([
    ['fails', () => Promise.reject(new Error('no token')), 'no token'],
    ['throws', () => JSON.parse('{'), /JSON/],
    ['returns no string', () => 7, 'Password must be a string'],
  ])('makes the storage unavailable for as long as its function %s', async (_, password, reason) => {
    const url = freshDatabase();
    const { password: right } = new URL(url);
    let isRight = false;
    const pool = { password: () => (isRight ? right : password()) as string };
    const { ready } = openStorage(url, { pool });
    const cause = { message: expect.stringMatching(reason) };
    expect(await failureOf(ready)).toMatchObject({ code: 'storage_unavailable', cause });
    isRight = true;
    await untilReady(ready);
  });
});

describeWithPostgres('TLS', () => {
  test('rejects a certificate without its own key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const line = 'sslcert and sslkey in the PostgreSQL URL must name a certificate and its key';
    const rejected = expect.objectContaining({ name: 'StorageMisconfigured', message: line });
    const [certificate, key, other] = ['cert.pem', 'key.pem', 'other.pem'].map((name) => join(folder, name));
    for (const [index, to] of [key, other].entries()) {
      const files = [
        '-keyout',
        to as string,
        '-out',
        index === 0 ? (certificate as string) : join(folder, 'unused.pem'),
      ];
      await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=test', ...files]);
    }
    const read = (options: string) => parseUrl(`postgres://db1/animals?${options}`).config.ssl;
    for (const wrong of [`sslcert=${certificate}`, `sslkey=${key}`, `sslcert=${certificate}&sslkey=${other}`]) {
      expect(() => read(wrong)).toThrow(rejected);
    }
    expect(read(`sslcert=${certificate}&sslkey=${key}`)).toMatchObject({ cert: expect.stringMatching(/CERTIFICATE/) });
  });

  test('is that of sslmode in the URL, and verifies the server', async () => {
    const isEncrypted = async (mode: string, pool?: PostgresStorageOptions['pool']) => {
      const name = `tls_${crypto.randomUUID().slice(0, 8)}`;
      const storage = openStorage(`${freshDatabase()}&application_name=${name}&${mode}`, pool && { pool });
      await storage.ready();
      const [row] = await sql(
        `SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = '${name}'`,
      );
      return row?.['ssl'];
    };
    const line = await lineOf(() => isEncrypted('sslmode=verify-full'));
    expect(line).toMatch(/^sslmode in the URL, or PGSSLMODE, asks for TLS: .* does not support SSL/);
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
    const { hostname } = new URL(serverUrl());
    const names = `subjectAltName=${isIP(hostname) === 0 ? 'DNS' : 'IP'}:${hostname}`;
    const options = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test', '-addext', names];
    await run('openssl', ['req', '-x509', ...options, '-keyout', key, '-out', certificate]);
    for (const file of [certificate, key]) {
      const lines = `SELECT unnest(string_to_array('${readFileSync(file, 'utf8').trim()}', E'\\n'))`;
      await sql(`COPY (${lines}) TO PROGRAM 'umask 077; cat > /data/${file === key ? 'server.key' : 'server.crt'}'`);
    }
    await sql('ALTER SYSTEM SET ssl = on');
    await sql('SELECT pg_reload_conf()');
    onTestFinished(async () => {
      await sql('ALTER SYSTEM RESET ssl');
      await sql('SELECT pg_reload_conf()');
    });

    // The server reads its files later.
    await expect.poll(() => isEncrypted('sslmode=no-verify').catch(() => null)).toBe(true);
    const ca = { ssl: { ca: readFileSync(certificate) } };
    expect(await isEncrypted(`sslmode=verify-full&sslrootcert=${certificate}`)).toBe(true);
    expect(await isEncrypted('sslmode=disable')).toBe(false);
    expect(await isEncrypted('sslmode=disable', ca)).toBe(true);
    expect(await isEncrypted('sslmode=verify-full', { ssl: false })).toBe(false);
    const selfSigned = { code: 'storage_unavailable', cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } };
    expect(await failureOf(() => isEncrypted('sslmode=verify-full'))).toMatchObject(selfSigned);
    expect(await failureOf(() => isEncrypted('sslmode=disable', { ssl: true }))).toMatchObject(selfSigned);
  });
});
