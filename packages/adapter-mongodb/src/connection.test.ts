import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import { describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { misconfiguration } from '../test/misconfiguration.ts';
import { createMongoStorage } from './index.ts';

const SECRET = 'p%40ss-w0rd';
const SPELLINGS = [SECRET, 'p@ss-w0rd', 'ss-w0rd'];

/** Whether anything of an error, however deep, tells the password. */
function tells(error: unknown): boolean {
  const { stack, message, cause } = error as Error;
  const everything = [stack, message, inspect(error, { depth: 20, showHidden: true }), inspect(cause), String(error)];
  return SPELLINGS.some((spelling) => everything.join('\n').includes(spelling));
}

describe('a URL that cannot be used', () => {
  test.each([
    ['', /cannot be read/],
    ['localhost:27017/animals', /cannot be read/],
    [`http://user:${SECRET}@localhost/animals`, /cannot be read/],
    [`mongodb://user:p@ss-w0rd@localhost/animals`, /cannot be read/],
    [`mongodb://user:p/ss-w0rd@localhost/animals`, /cannot be read/],
    [`mongodb://user:p?ss-w0rd@localhost/animals`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost:99999999/animals`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost/animals?colour=brown`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost/animals?tls=perhaps`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost/an$imals`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost`, /must name the database/],
    [`mongodb://user:${SECRET}@localhost/`, /must name the database/],
    [`mongodb://user:${SECRET}@localhost/?authSource=admin`, /must name the database/],
    [`mongodb://user:${SECRET}@localhost/admin`, /must name a database of its own, not the server's admin/],
    [`mongodb+srv://user:${SECRET}@localhost.example.com/?tls=true`, /must name the database/],
  ])('%s is refused at once, in one line without credentials', (url, reason) => {
    let thrown: unknown;
    try {
      createMongoStorage({ url });
    } catch (error) {
      thrown = error;
    }
    expect((thrown as Error).message).toMatch(reason);
    expect((thrown as Error).message).not.toContain('\n');
    expect(tells(thrown)).toBe(false);
  });

  test('is not one with several hosts, a percent-encoded password and options', async () => {
    const url = `mongodb://us%3Aer:${SECRET}@one:1,two:2/animals?authSource=admin&replicaSet=rs0&tls=true`;
    await createMongoStorage({ url }).close();
  });
});

describe('the location', () => {
  test.each([
    [`mongodb://us%3Aer:${SECRET}@one:1,two/animals?replicaSet=rs0`, 'one:1,two:27017'],
    ['mongodb://[::1]:5/animals', '[::1]:5'],
    [`mongodb+srv://user:${SECRET}@cluster.example.com/animals`, 'cluster.example.com'],
  ])('of %s is its servers, without credentials', async (url, servers) => {
    const storage = createMongoStorage({ url });
    onTestFinished(async () => storage.close());
    expect(storage.location).toBe(servers);
  });
});

describe('a server that is not there', () => {
  const open = (url: string) => {
    const storage = createMongoStorage({ url, timeLimits: { serverSelection: 200, connect: 200 } });
    onTestFinished(async () => storage.close());
    return storage;
  };

  test('is no error until it is used, and then one that tells callers nothing and the log enough', async () => {
    const storage = open(`mongodb://user:${SECRET}@127.0.0.1:1/animals`);
    const error = await Promise.resolve(storage.ready()).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect((error as Error).message).not.toMatch(/127\.0\.0\.1|Mongo|ECONN/);
    expect((error as Error).cause).toMatchObject({ name: 'MongoServerSelectionError' });
    expect(((error as Error).cause as Error).message).toContain('ECONNREFUSED 127.0.0.1:1');
    expect(misconfiguration(error)).toBeNull();
    expect(tells(error)).toBe(false);
  });

  test('nor is a host whose name is unknown, or a certificate file that is missing', async () => {
    for (const url of [
      'mongodb://nowhere.invalid/animals',
      'mongodb+srv://nowhere.invalid.example/animals',
      'mongodb://localhost/animals?tls=true&tlsCAFile=/nowhere.pem',
    ]) {
      await expect(Promise.resolve(open(url).ready()), url).rejects.toMatchObject({ code: 'storage_unavailable' });
    }
  });

  test('every method of every port says so', async () => {
    const { pets, keys, ready } = open('mongodb://127.0.0.1:1/animals');
    const digest = 'ab'.repeat(32);
    const animal = { name: 'Rex', categoryId: 1n } as Parameters<typeof pets.add>[0];
    const key = { id: 'a', digest, visiblePrefix: '', holder: '', createdAt: 0 };
    const calls = [
      pets.add(animal),
      pets.add(animal, { holder: 'a', key: 'b', fingerprint: 'c' }),
      pets.find(1n),
      pets.list({ after: 0n, limit: 1 }),
      keys.add({ ...key, expiresAt: null, revokedAt: null, lastUsedAt: null }),
      keys.find(digest),
      keys.list(),
      keys.revoke('a', 1),
      keys.recordUse('a', 1),
      ready(),
    ];
    for (const call of calls) {
      await expect(Promise.resolve(call)).rejects.toMatchObject({ name: 'DomainError', code: 'storage_unavailable' });
    }
  });

  test('ids that no int64 can hold are answered without it', async () => {
    const { pets } = open('mongodb://127.0.0.1:1/animals');
    for (const id of [0n, -1n, 2n ** 63n, 2n ** 64n + 1n]) expect(await pets.find(id)).toBeNull();
    expect(await pets.list({ after: 2n ** 63n, limit: 1 })).toEqual([]);
  });
});

describeWithMongo('a server that is there', () => {
  test('and refuses the credentials, says so in a way that can be told from all else', async () => {
    const url = freshDatabase().replace(/\/\/(?:[^@/]*@)?/, `//nobody:${SECRET}@`);
    const storage = createMongoStorage({ url });
    onTestFinished(async () => storage.close());
    const error = await Promise.resolve(storage.ready()).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'storage_unavailable', cause: { cause: { code: 18 } } });
    expect(misconfiguration(error)).toBe('the server refuses the user, the password or the rights');
    expect(tells(error)).toBe(false);
    // And again, not an accident of the first connection.
    await expect(Promise.resolve(storage.pets.find(1n))).rejects.toMatchObject({ cause: { cause: { code: 18 } } });
  });

  test('what is closed stays closed', async () => {
    const storage = createMongoStorage({ url: freshDatabase() });
    await storage.ready();
    await storage.close();
    await expect(Promise.resolve(storage.pets.find(1n))).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test('a defect is not disguised as an outage', async () => {
    const storage = createMongoStorage({ url: freshDatabase() });
    onTestFinished(async () => storage.close());
    const broken = undefined as unknown as Parameters<typeof storage.pets.add>[0];
    await expect(Promise.resolve(storage.pets.add(broken))).rejects.toBeInstanceOf(TypeError);
  });
});
