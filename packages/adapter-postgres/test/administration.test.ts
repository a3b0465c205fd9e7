import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, freshDatabase, schemaOf, serverUrl, sql } from '@animal-store/test-servers/postgres';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { TIME_LIMITS } from '../src/session.ts';
import { asOwner, asRole, freshStorage, lineOf, openStorage } from './fixtures.ts';

const unavailable = { code: 'storage_unavailable' };

/** The privileges of docs/storage-postgres.md. */
async function grantsFor(url: string, role: string): Promise<string> {
  const page = await readFile(new URL('../../../docs/storage-postgres.md', import.meta.url), 'utf8');
  const [, block = ''] = /```sql\n[^`]*?(GRANT.*?)```/s.exec(page) ?? [];
  return block.replaceAll('TO animal_store', `TO ${role}`).replaceAll('SCHEMA public', `SCHEMA ${schemaOf(url)}`);
}

/** A new database with its tables, and the URL of a role that has the privileges of the page. */
async function limited() {
  const { url } = await freshStorage();
  const { url: own, role } = await asRole(url);
  const grants = await grantsFor(url, role);
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
        expect(await pets.list({ after: 0n, limit: 1 })).toHaveLength(1);
        await keys.add(key);
        await keys.recordUse(key.id, 1);
        expect(await keys.revoke(key.id, 1)).toMatchObject({ id: key.id });
        expect(await keys.list()).toHaveLength(1);
        expect(await keys.prune(2)).toBe(1);
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
    const name = `animals_${crypto.randomUUID().slice(0, 8)}`;
    const [owner, other] = [await asRole(serverUrl()), await asRole(serverUrl())];
    await sql(`CREATE DATABASE ${name} ENCODING UTF8 TEMPLATE template0 OWNER ${owner.role}`);
    onTestFinished(async () => void (await sql(`DROP DATABASE ${name} WITH (FORCE)`)));
    const urlOf = ({ url }: typeof owner) => url.replace('/animals', `/${name}`);
    await openStorage(urlOf(owner)).ready();
    const client = new pg.Client({ connectionString: urlOf(owner) });
    await client.connect();
    await client.query(await grantsFor(urlOf(owner), other.role));
    await client.end();
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

/** A change, what undoes it, what the operator reads meanwhile, and whether reads succeed. Absent: every call fails. */
type Change = [change: string, undo: string, line: RegExp, reads?: 'succeed'];

const missingIndex = (name: string) => new RegExp(`^an index is missing: create ${name} as in a new database$`);

describeWithPostgres('a change by an administrator', () => {
  test.each<Change>([
    ...TABLES.map((table): Change => {
      const line = new RegExp(`^the role has too few .* row-level security policy for table "${table}"$`);
      const change = `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`;
      return [change, change.replace('ENABLE', 'DISABLE'), line];
    }),
    ['REVOKE SELECT ON pets FROM the_role', 'GRANT SELECT ON pets TO the_role', /^the role has too few .* table pets$/],
    [
      'UPDATE animal_store SET format = 2',
      'UPDATE animal_store SET format = 1',
      /^the database has format 2, and this version of Animal Store works with format 1: start a newer version$/,
    ],
    [
      'DROP INDEX pets_by_idempotency_key',
      `CREATE UNIQUE INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)
        WHERE idempotency_key IS NOT NULL`,
      missingIndex('pets_by_idempotency_key'),
    ],
    [
      'DROP INDEX pets_by_status',
      'CREATE INDEX pets_by_status ON pets (status, id) WHERE status IS NOT NULL',
      missingIndex('pets_by_status'),
    ],
    [
      'ALTER TABLE pets DROP CONSTRAINT pets_pkey',
      'ALTER TABLE pets ADD CONSTRAINT pets_pkey PRIMARY KEY (id)',
      missingIndex('pets_pkey'),
    ],
    [
      'ALTER TABLE pets RENAME COLUMN status TO state',
      'ALTER TABLE pets RENAME COLUMN state TO status',
      /^the tables are not as Animal Store has created them: .*"status" does not exist$/,
    ],
    ...['INSERT ON pets', 'USAGE ON pets_id_seq', 'UPDATE ON api_keys', 'UPDATE ON animal_store'].map(
      (privilege): Change => {
        const line = new RegExp(`^the role has too few privileges: it lacks ${privilege.replace(' ON ', ' on ')}$`);
        return [`REVOKE ${privilege} FROM the_role`, `GRANT ${privilege} TO the_role`, line, 'succeed'];
      },
    ),
    [
      'ALTER TABLE pets ALTER id DROP IDENTITY',
      'ALTER TABLE pets ALTER id ADD GENERATED ALWAYS AS IDENTITY (START 9); GRANT USAGE ON pets_id_seq TO the_role',
      /^a table is missing: restore the database: .*"pets_id_seq" does not exist$/,
      'succeed',
    ],
  ])('makes a service not ready until it is undone: %s', async (change, undo, line, reads) => {
    const { url, own, role } = await limited();
    const storage = openStorage(own);
    const pet = await added(storage.pets, rex({ status: 'sold' }), idempotencyOf(rex({ status: 'sold' }), 'k'));
    await sql(change.replace('the_role', role), url);
    for (const { pets, ready } of [storage, openStorage(own)]) {
      expect(await lineOf(ready)).toMatch(line);
      if (reads === 'succeed') {
        expect(await pets.find(pet.id)).toEqual(pet);
        continue;
      }
      for (const call of [() => added(pets), () => pets.find(pet.id), () => pets.list({ after: 0n, limit: 1 })]) {
        expect(await lineOf(call)).toMatch(line);
      }
    }
    await sql(undo.replace('the_role', role), url);
    expect(await failureOf(storage.ready)).toBeNull();
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    expect(await added(storage.pets)).toMatchObject(rex());
  });

  test.each([
    ['row level security', 'ALTER TABLE pets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'],
    ['an index that is dropped', 'DROP INDEX pets_by_idempotency_key'],
    ['a column that is dropped', 'ALTER TABLE pets DROP COLUMN status'],
    ['a sequence that is behind the ids', 'ALTER TABLE pets ALTER id RESTART 1'],
  ])('is no internal error of a creation, and no response: %s', async (_, change) => {
    const { url } = await asOwner(freshDatabase());
    const storage = openStorage(url);
    await storage.archive?.restore(
      Array.from({ length: 40 }, (_, index) => ({ id: BigInt(index + 1), ...rex(), createdAt: 1 })),
    );
    await sql(change, url);
    await expect(added(storage.pets)).rejects.toMatchObject(unavailable);
    await expect(storage.pets.add(rex(), idempotencyOf(rex(), 'k'))).rejects.toMatchObject(unavailable);
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
    await sql('UPDATE animal_store SET format = 2', url);
    const line = () => lineOf(() => added(pets));
    await expect.poll(line, { timeout: 10_000 }).toMatch(/^the database has format 2, /);
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
      expect(await pets.list({ after: 0n, limit: 9 })).toEqual([pet]);
      expect(await keys.list()).toEqual([key]);
      expect(await archive?.read(0n, 9)).toMatchObject([pet]);
    };
    await readAll();
    for (const write of [
      () => added(pets),
      () => added(pets, rex(), idempotencyOf(rex(), 'k')),
      () => keys.add(apiKey()),
      () => keys.revoke(key.id, 1),
      () => keys.prune(1),
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
