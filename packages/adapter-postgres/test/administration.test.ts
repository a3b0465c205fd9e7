import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { added, apiKey, everyKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { ALL_PETS } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import {
  describeWithPostgres,
  freshDatabase,
  schemaOf,
  serverUrl,
  sql,
  withOptions,
} from '@animal-store/test-servers/postgres';
import { expect, onTestFinished, test } from 'vitest';
import { TIME_LIMITS } from '../src/pools.ts';
import { FORMAT } from '../src/schema.ts';
import { asOwner, asRole, connect, freshStorage, lineOf, newDatabase, openStorage } from './fixtures.ts';

const unavailable = { code: 'storage_unavailable' };

const PAGE = await readFile(new URL('../../../docs/storage-postgres.md', import.meta.url), 'utf8');

/** The privileges of the page. */
function grantsFor(url: string, role: string): string {
  const [, block = ''] = /```sql\n[^`]*?(GRANT.*?)```/s.exec(PAGE) ?? [];
  return block.replaceAll('TO animal_store', `TO ${role}`).replaceAll('SCHEMA public', `SCHEMA ${schemaOf(url)}`);
}

/** A new database with its tables, and the URL of a role that has the privileges of the page. */
async function limited() {
  const { url } = await freshStorage();
  const { url: own, role } = await asRole(url);
  const grants = grantsFor(url, role);
  await sql(grants, url);
  return { url, own, role, grants };
}

describeWithPostgres('the privileges of docs/storage-postgres.md', () => {
  test('are enough for every call, and each of them is needed', async () => {
    const { url, own, grants } = await limited();
    const everything = async () => {
      const { pets, keys, ready, close } = openStorage(own);
      const key = apiKey();
      try {
        await ready();
        await Promise.all([added(pets), added(pets, rex(), idempotencyOf(rex(), 'k'))]);
        await added(pets, rex(), idempotencyOf(rex(), 'k'));
        expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 1 })).toHaveLength(1);
        await keys.add(key);
        await keys.recordUse(key.id, 1);
        expect(await keys.revoke(key.id, 1)).toMatchObject({ id: key.id });
        expect((await everyKey(keys)).map(({ id }) => id)).toContain(key.id);
      } finally {
        await close();
      }
    };
    await everything();
    for (const grant of grants.split('\n').filter(Boolean)) {
      await sql(grant.replace('GRANT', 'REVOKE').replace(' TO ', ' FROM '), url);
      expect(await lineOf(everything)).toMatch(/^the role has too few privileges: |^the schema in which /);
      await sql(grants, url);
    }
    await everything();
  });

  test('can be granted by the owner of a new database, in the order of the page', async () => {
    const [owner, other] = [await asRole(serverUrl()), await asRole(serverUrl())];
    const { pathname } = new URL(await newDatabase(`ENCODING UTF8 TEMPLATE template0 OWNER ${owner.role}`));
    const urlOf = ({ url }: typeof owner) => url.replace('/animals', pathname);
    await openStorage(urlOf(owner)).ready();
    const client = await connect(urlOf(owner));
    await client.query(grantsFor(urlOf(owner), other.role));
    const { pets, ready } = openStorage(urlOf(other));
    await ready();
    expect(await added(pets)).toMatchObject(rex());
  });

  test('and those of the sequence are enough for the target of a copy', async () => {
    const { url, own, role } = await limited();
    const { archive, pets } = openStorage(own);
    const restore = async () => archive?.restore([{ id: 70n, ...rex(), createdAt: 1 }]);
    expect(await lineOf(restore)).toMatch(/^the role has too few privileges: .*pets_id_seq$/);
    await sql(`GRANT SELECT, UPDATE ON SEQUENCE pets_id_seq TO ${role}`, url);
    await restore();
    expect((await added(pets)).id).toBe(71n);
  });
});

const TABLES = ['pets', 'api_keys', 'animal_store'];

const CALLS = ['add', 'find', 'list'] as const;

/**
 * A change, what undoes it, what the operator reads of `ready`, and the calls that a running storage can't serve meanwhile. A
 * storage that is opened serves none.
 */
type Change = [change: string, undo: string, line: RegExp, failing: readonly (typeof CALLS)[number][]];

const INDEXES = 'pets_pkey pets_by_status pets_by_idempotency_key api_keys_pkey api_keys_digest_key';

/** The line about a table or a column that is missing. */
const isMissing = (what: string, advice = 'undo the change') => new RegExp(`^the ${what}: ${advice}$`);

describeWithPostgres('a change by an administrator', () => {
  test.each<Change>([
    ...TABLES.map((table): Change => {
      const line = new RegExp(`^the role has too few .* row-level security policy for table "${table}"$`);
      const change = `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`;
      return [change, change.replace('ENABLE', 'DISABLE'), line, table === 'pets' ? CALLS : []];
    }),
    [
      'CREATE TABLE kept AS TABLE animal_store; DELETE FROM animal_store',
      'INSERT INTO animal_store TABLE kept',
      /^the table animal_store has no row: restore that row from a backup$/,
      CALLS,
    ],
    [
      'ALTER TABLE pets RENAME COLUMN status TO state',
      'ALTER TABLE pets RENAME COLUMN state TO status',
      isMissing('column status of pets is missing'),
      CALLS,
    ],
    ...INDEXES.split(' ').map(
      (index): Change => [
        `ALTER INDEX ${index} RENAME TO away`,
        `ALTER INDEX away RENAME TO ${index}`,
        new RegExp(`^an index is missing: create ${index} as in a new database$`),
        [],
      ],
    ),
  ])('makes a service not ready until it is undone: %s', async (change, undo, line, failing) => {
    const { url, own } = await limited();
    const storage = openStorage(own);
    const pet = await added(storage.pets, rex({ status: 'sold' }), idempotencyOf(rex({ status: 'sold' }), 'k'));
    await sql(change, url);
    for (const [{ pets, ready }, expected] of [[storage, failing] as const, [openStorage(own), CALLS] as const]) {
      expect(await lineOf(ready)).toMatch(line);
      const list = () => pets.list({ ...ALL_PETS, after: 0n, limit: 1 });
      const calls = { add: () => added(pets), find: () => pets.find(pet.id), list };
      for (const name of CALLS) {
        const failure = await failureOf(calls[name]);
        if (expected.includes(name)) expect(misconfigurationOf(failure), name).toMatch(line);
        else expect(failure, name).toBeNull();
      }
    }
    await sql(undo, url);
    expect(await failureOf(storage.ready)).toBeNull();
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    expect(await added(storage.pets)).toMatchObject(rex());
  });

  test.each<[string, string, RegExp]>([
    ['ALTER TABLE pets RENAME TO away', 'ALTER TABLE away RENAME TO pets', /^the table pets is now \w+\.away, which /],
    [
      'REVOKE USAGE ON SCHEMA s FROM r',
      'GRANT USAGE ON SCHEMA s TO r',
      /^the table animal_store is now \w+\.animal_store, /,
    ],
  ])('is no reason to restore what is still there: %s', async (change, undo, line) => {
    const { url, own, role } = await limited();
    const { pets, ready } = openStorage(own);
    await ready();
    const named = (text: string) => text.replace('SCHEMA s', `SCHEMA ${schemaOf(url)}`).replace(/r$/, role);
    await sql(named(change), url);
    for (const call of [ready, () => added(pets)]) {
      expect(await lineOf(call)).toMatch(line);
      expect(await lineOf(call)).not.toMatch(/restore|create|delete/);
    }
    await sql(named(undo), url);
    expect(await failureOf(ready)).toBeNull();
  });

  test.each([
    'ALTER TABLE pets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    'DROP INDEX pets_by_idempotency_key',
    'ALTER TABLE pets DROP COLUMN status',
  ])('is no internal error of a creation, and no response: %s', async (change) => {
    const { url } = await asOwner(freshDatabase());
    const { pets, ready } = openStorage(url);
    await ready();
    await sql(change, url);
    for (const idempotency of [undefined, idempotencyOf(rex(), 'k')]) {
      await expect(pets.add(rex(), idempotency)).rejects.toMatchObject(unavailable);
    }
  });

  test('never puts data into the errors of the service: a constraint that rejects pets', async () => {
    const { pets, url } = await freshStorage();
    await sql("ALTER TABLE pets ADD CHECK (name <> 'Max')", url);
    const max = rex({ name: 'Max' });
    const failure = await failureOf(() => pets.add(max, idempotencyOf(max, 'customer-secret-77')));
    expect(failure).toMatchObject({ code: '23514' });
    expect(inspect(failure)).not.toMatch(/Max|customer-secret/);
  });

  test('is noticed without probes once the connections are replaced: a new format', async () => {
    const { lifetime } = TIME_LIMITS;
    onTestFinished(() => void Object.assign(TIME_LIMITS, { lifetime }));
    TIME_LIMITS.lifetime = 500;
    const { pets, url } = await freshStorage();
    await sql(`UPDATE animal_store SET format = ${FORMAT + 1}`, url);
    const line = () => lineOf(() => added(pets));
    await expect.poll(line, { timeout: 10_000 }).toMatch(new RegExp(`^the database has format ${FORMAT + 1}, `));
  });
});

/** The last time of ECMAScript. */
const LAST = 864e13;

describeWithPostgres('stored rows', () => {
  test('keep their times to the millisecond, from 4714 BC to the last one of ECMAScript', async () => {
    // As a database or a role may have them.
    const settings = '-c TimeZone=America/New_York -c DateStyle=German -c IntervalStyle=sql_standard';
    const { keys, archive } = await freshStorage(withOptions(freshDatabase(), settings));
    const first = Date.UTC(-4_713, 10, 24);
    for (const time of [
      ...[first, -1, 0, 1, 1_795_489_371_186, 4_398_046_522_215_103],
      ...[8_639_999_997_530_866, LAST - 1, LAST],
    ]) {
      const digest = randomBytes(32).toString('hex');
      const times = { createdAt: time, expiresAt: time, revokedAt: null, lastUsedAt: null };
      const key = apiKey({ id: digest.slice(0, 16), digest, ...times });
      await keys.add(key);
      await keys.recordUse(key.id, time);
      expect(await keys.revoke(key.id, time)).toEqual({ ...key, revokedAt: time, lastUsedAt: time });
    }
    const pets = [4_398_046_522_215_103, LAST].map((createdAt, index) => ({
      id: BigInt(index + 1),
      ...rex(),
      createdAt,
    }));
    await archive?.restore(pets);
    expect(await archive?.read(0n, 9)).toEqual(pets);
  });

  test('are read if an administrator has given them a time that is none of ECMAScript', async () => {
    const { pets, keys, archive, url } = await freshStorage();
    const key = apiKey();
    await keys.add(key);
    await added(pets);
    for (const [time, ms] of [
      ['infinity', LAST],
      ['294276-12-31', LAST],
      ['-infinity', -LAST],
    ] as const) {
      const columns = 'created_at, expires_at, revoked_at, last_used_at';
      await sql(`UPDATE api_keys SET (${columns}) = ROW ('${time}', '${time}', '${time}', '${time}')`, url);
      await sql(`UPDATE pets SET created_at = '${time}'`, url);
      const times = { createdAt: ms, expiresAt: ms, revokedAt: ms, lastUsedAt: ms };
      expect(await keys.list({ after: '', limit: 9 })).toEqual([{ ...key, ...times }]);
      expect(await keys.find(key.digest)).toEqual({ ...key, ...times });
      expect(await archive?.read(0n, 9)).toMatchObject([{ createdAt: ms }]);
      expect(new Date(ms).toISOString()).toMatch(/Z$/);
    }
  });

  test.each([
    [1, 'n <= 25000 AND n % 7 > 0', 25_021n, 70n],
    // The even ones are those of another server.
    [2, 'n <= 25000 AND n % 7 > 0 OR n % 2 = 0', 25_041n, 71n],
    [100, 'n <= 25000 AND n % 7 > 0 OR n = 32901', 42_001n, 101n],
  ])(
    'keep their ids if they were inserted by hand, and new pets get other ones, in steps of %i',
    async (step, taken, first, last) => {
      const { url, pets, archive } = await freshStorage();
      await expect(sql("INSERT INTO pets (id, name, category_id) VALUES (2, 'Max', 1)", url)).rejects.toThrow(
        'cannot insert a non-DEFAULT value into column "id"',
      );
      await sql(
        `ALTER SEQUENCE pets_id_seq INCREMENT BY ${step};
      INSERT INTO pets (id, name, category_id) OVERRIDING SYSTEM VALUE
        SELECT n, 'Max', 1 FROM generate_series(1, 50000) AS n WHERE ${taken}
        UNION SELECT 9007199254740991, 'Max', 1`,
        url,
      );
      const created = await Promise.all(Array.from({ length: 20 }, () => added(pets)));
      expect(created.map(({ id }) => id)).toEqual(created.map((_, index) => first + BigInt(step * index)));
      expect(await pets.find(9n)).toMatchObject({ name: 'Max' });
      await sql("TRUNCATE pets; SELECT setval('pets_id_seq', 1)", url);
      await archive?.restore([{ id: 70n, ...rex(), createdAt: 1 }]);
      for (const id of [70n, last, 1n]) await archive?.skipIds(id);
      expect(await archive?.lastId()).toBe(last);
      expect((await added(pets)).id).toBe(last + BigInt(step));
    },
  );

  test('have ids below 2^53, and a creation beyond that throws a defect', async () => {
    const { url, pets } = await freshStorage();
    await sql("SELECT setval('pets_id_seq', 9007199254740990)", url);
    expect((await added(pets)).id).toBe(2n ** 53n - 1n);
    await expect(added(pets)).rejects.toMatchObject({ code: '2200H' });
  });

  test('lose old idempotency keys by the statement of docs/storage-postgres.md', async () => {
    const [, statement = ''] = /```sql\n\s+(UPDATE pets.*?)```/s.exec(PAGE) ?? [];
    const { url, pets } = await freshStorage();
    const old = await added(pets, rex(), idempotencyOf(rex(), 'old'));
    await sql("UPDATE pets SET created_at = created_at - interval '91 days'", url);
    const recent = await added(pets, rex(), idempotencyOf(rex(), 'recent'));
    await sql(statement, url);
    expect(await pets.add(rex(), idempotencyOf(rex(), 'recent'))).toEqual({ pet: recent, created: false });
    expect(await pets.add(rex(), idempotencyOf(rex(), 'old'))).toMatchObject({ created: true });
    expect(await pets.find(old.id)).toEqual(old);
  });
});

describeWithPostgres('a role that may only read', () => {
  test('lists pets and keys, and gets one line about each write and about the service', async () => {
    const { url, ...owner } = await freshStorage();
    const [pet, key] = [await added(owner.pets, rex(), idempotencyOf(rex(), 'k')), apiKey()];
    await owner.keys.add(key);
    const { url: own, role } = await asRole(url);
    await sql(`GRANT USAGE ON SCHEMA ${schemaOf(url)} TO ${role}; GRANT SELECT ON ${TABLES} TO ${role}`, url);
    const { pets, keys, archive, ready } = openStorage(own);
    const readAll = async () => {
      expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 9 })).toEqual([pet]);
      expect(await everyKey(keys)).toEqual([key]);
      expect(await archive?.read(0n, 9)).toMatchObject([pet]);
    };
    await readAll();
    for (const write of [
      () => added(pets),
      () => added(pets, rex(), idempotencyOf(rex(), 'k')),
      () => keys.add(apiKey()),
      () => keys.revoke(key.id, 1),
      () => keys.recordUse(key.id, 1),
      () => archive?.restore([{ id: 70n, ...rex(), createdAt: 1 }]),
    ]) {
      expect(await lineOf(write)).toMatch(/^the role has too few privileges: permission denied/);
    }
    expect(await lineOf(ready)).toBe(
      'the role has too few privileges: it lacks INSERT on pets, USAGE on pets_id_seq, UPDATE on api_keys, ' +
        'UPDATE on animal_store',
    );
    await readAll();
  });
});

describeWithPostgres('a creation', () => {
  test('fails if its earlier pet cannot be read, and none that came with it', async () => {
    const { url, own, role } = await limited();
    const { pets } = openStorage(own);
    const idempotency = idempotencyOf(rex(), 'k');
    await added(pets, rex(), idempotency);
    await sql(
      `REVOKE SELECT ON pets FROM ${role}; GRANT SELECT (id, idempotency_holder, idempotency_key) ON pets TO ${role}`,
      url,
    );
    const [repeated, created] = await Promise.allSettled([pets.add(rex(), idempotency), pets.add(rex())]);
    expect(repeated).toMatchObject({ reason: unavailable });
    expect(created).toMatchObject({ value: { created: true } });
  });
});

describeWithPostgres('a unique index of an administrator', () => {
  test('makes the calls unavailable whose pets it rejects, and no others', async () => {
    const { url, pets, archive } = await freshStorage();
    const stored = { ...(await added(pets, rex(), idempotencyOf(rex(), 'k'))), createdAt: 0 };
    await sql('CREATE UNIQUE INDEX own ON pets (name)', url);
    const twin = { ...stored, id: 9n };
    await archive?.restore([stored, { ...twin, idempotency: idempotencyOf(rex(), 'k') }]);
    const failures = Promise.all([() => added(pets), () => archive?.restore([twin])].map(failureOf));
    // Creations at once share a statement.
    const { id, name } = await added(pets, rex({ name: 'Max' }));
    expect(name).toBe('Max');
    for (const failure of await failures) {
      expect(failure).toMatchObject({
        code: 'storage_unavailable',
        cause: { message: expect.stringContaining('"own"') },
      });
    }
    // None was taken, so none is skipped.
    expect((await added(pets, rex({ name: 'Bo' }))).id - id).toBeLessThan(20n);
  });
});
