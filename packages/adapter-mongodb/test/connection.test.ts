import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { adapter } from '../src/adapter.ts';
import { addTo, openStorage, rex } from './fixtures.ts';

const SECRET = 'p%40ss-w0rd';
const SPELLINGS = [SECRET, 'p@ss-w0rd', 'ss-w0rd'];

/** Whether an error or one of its causes contains the password. */
function tells(error: unknown): boolean {
  const { stack, message, cause } = error as Error;
  const everything = [stack, message, inspect(error, { depth: 20, showHidden: true }), inspect(cause), String(error)];
  return SPELLINGS.some((spelling) => everything.join('\n').includes(spelling));
}

describe('a server that is not there', () => {
  const open = (url: string) => openStorage({ url, timeLimits: { serverSelection: 200, connect: 200 } });

  test('fails the first call, with its details in the cause only', async () => {
    const storage = open(`mongodb://user:${SECRET}@127.0.0.1:1/animals`);
    const error = await failureOf(() => storage.ready());
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect((error as Error).message).not.toMatch(/127\.0\.0\.1|Mongo|ECONN/);
    expect((error as Error).cause).toMatchObject({ name: 'MongoServerSelectionError' });
    expect(((error as Error).cause as Error).message).toContain('ECONNREFUSED 127.0.0.1:1');
    expect(misconfigurationOf(error)).toBeNull();
    expect(tells(error)).toBe(false);
  });

  test.each(['mongodb://nowhere.invalid/animals', 'mongodb+srv://nowhere.invalid.example/animals'])(
    'fails calls if its name cannot be resolved: %s',
    async (url) => {
      const error = await failureOf(() => open(url).ready());
      expect(error).toMatchObject({ code: 'storage_unavailable' });
      expect(misconfigurationOf(error)).toBeNull();
    },
  );
});

describe('a file that the URL names', () => {
  test.each(['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'])(
    'is reported as a misconfiguration if it cannot be read: %s',
    async (option) => {
      for (const path of ['/nowhere.pem', tmpdir()]) {
        const url = `mongodb://user:${SECRET}@localhost/animals?tls=true&${option}=${encodeURIComponent(path)}`;
        const error = await failureOf(() => openStorage({ url }).ready());
        expect(misconfigurationOf(error)).toMatch(/^a file that the URL names \(tlsCAFile, [^\n]* cannot be read: /);
        expect(tells(error)).toBe(false);
      }
    },
  );
});

describe('a file of certificates', () => {
  function openWith(text: string) {
    const folder = mkdtempSync(join(tmpdir(), 'ca-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'ca.pem');
    writeFileSync(file, text);
    const url = `mongodb://user:${SECRET}@127.0.0.1:1/animals?tls=true&tlsCAFile=${file}`;
    return openStorage({ url, timeLimits: { serverSelection: 200 } });
  }

  test.each([
    ['is empty', ''],
    ['is another text', 'hello'],
    ['has a key only', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'],
    ['has a damaged certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('is reported as a misconfiguration if it %s', async (_, text) => {
    const error = await failureOf(() => openWith(text).ready());
    expect(misconfigurationOf(error)).toBe(
      'the file that the URL names as tlsCAFile has no certificate in the format PEM',
    );
    expect(tells(error)).toBe(false);
  });

  test('is not reported if it has a certificate and the server is not there', async () => {
    const error = await failureOf(() => openWith(`A comment\n${rootCertificates[0]}`).ready());
    expect(error).toMatchObject({ code: 'storage_unavailable', cause: { name: 'MongoServerSelectionError' } });
  });
});

describe('the warnings of a storage', () => {
  test('name options that switch off the verification of certificates', async () => {
    const { warnings } = await adapter.open(`mongodb://user:${SECRET}@localhost/animals?tls=true&tlsInsecure=true`);
    expect(warnings).toEqual([expect.stringMatching(/^tlsInsecure /)]);
  });
});

describeWithMongo('a client of the caller', () => {
  async function connected(url: string) {
    const client = new MongoClient(url);
    onTestFinished(async () => client.close());
    await client.connect();
    return client;
  }

  test('serves several storages, in any of its databases', async () => {
    const [url, other] = [freshDatabase(), freshDatabase()];
    const client = await connected(url);
    const [one, another] = [openStorage({ client }), openStorage({ client, database: databaseAt(other).databaseName })];
    const added = await addTo(one.pets, { ...rex, categoryId: 2n ** 63n - 1n });
    expect(await one.pets.find(added?.id ?? 0n)).toEqual(added);
    expect(await openStorage({ url }).pets.find(added?.id ?? 0n)).toEqual(added);
    expect(await another.pets.list({ after: 0n, limit: 1 })).toEqual([]);
    expect(one.location).toBe(openStorage({ url }).location);
  });

  test('stays open when a storage is closed, without listeners of it', async () => {
    const client = await connected(freshDatabase());
    const listeners = () => client.listenerCount('topologyDescriptionChanged');
    const before = listeners();
    const [one, other] = [openStorage({ client }), openStorage({ client })];
    await one.ready();
    await other.ready();
    await one.close();
    expect(await failureOf(() => one.ready())).toMatchObject({ code: 'storage_unavailable' });
    await other.ready();
    await other.close();
    await expect.poll(listeners).toBe(before);
    await client.db().command({ ping: 1 });
  });

  test('has no password in its location and its errors', async () => {
    const client = new MongoClient(`mongodb://user:${SECRET}@127.0.0.1:1/animals`, { serverSelectionTimeoutMS: 200 });
    onTestFinished(async () => client.close());
    const error = await failureOf(() => openStorage({ client }).ready());
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect(tells(error)).toBe(false);
  });
});
