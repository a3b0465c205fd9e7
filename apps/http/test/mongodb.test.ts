import { randomBytes } from 'node:crypto';
import { openStorage, readNamedStorage, sha256 } from '@animal-store/app-kit';
import { createKeyring } from '@animal-store/domain';
import { behindProxy, describeWithMongo, freshDatabase } from '@animal-store/test-servers/mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { errorLike, KEY } from './service.ts';
import { startProcess } from './service-process.ts';

const SECRET = 's3cret-w0rd';
const withWrongPassword = (url: string) => url.replace('//', `//nobody:${SECRET}@`);
const start = (url: string) => startProcess({ STORAGE: 'mongodb', MONGODB_URL: url, API_KEYS: KEY });
const startInProduction = (url: string) =>
  startProcess({ NODE_ENV: 'production', STORAGE: 'mongodb', MONGODB_URL: url });

async function keyringAt(url: string, clock = Date.now) {
  const { storage } = await openStorage(await readNamedStorage({ MONGODB_URL: url }));
  onTestFinished(async () => storage.close());
  return createKeyring({ keys: storage.keys, digest: sha256, randomBytes, clock });
}

test('warns at the start of an option that switches off the verification of certificates', async () => {
  const running = start(`mongodb://user:${SECRET}@127.0.0.1:1/animals?tls=true&tlsInsecure=true`);
  await running.says(/not verified/);
  expect(running.logged(40)[0]?.['msg']).toBe(
    "MONGODB_URL: tlsInsecure or tlsAllowInvalidCertificates: the server's certificate is not verified, remove the option",
  );
});

describeWithMongo('the service on MongoDB', () => {
  test('starts in production with a valid issued key, and ends with code 2 if all are revoked or expired', async () => {
    const url = freshDatabase();
    const issued = { holder: 'the zoo', expiresAt: null };
    await (await keyringAt(url, () => 0)).issue({ ...issued, expiresAt: Date.now() - 1_000 });
    const keyring = await keyringAt(url);
    await keyring.revoke((await keyring.issue(issued)).record.id);
    const rejected = startInProduction(url);
    expect(await rejected.exit).toBe(2);
    expect(rejected.output.err).toBe(
      'animal-store: no API key is valid, all are revoked or expired: set API_KEYS or issue a key\n',
    );

    const { key } = await keyring.issue({ ...issued, expiresAt: Date.now() + 60_000 });
    const running = startInProduction(url);
    expect((await (await running.listens()).call('GET', '/v1/pets', { key })).status).toBe(200);
    expect(running.output.out).not.toContain(key);
  });

  test('ends with code 2 if the server rejects the password', async () => {
    const running = start(withWrongPassword(freshDatabase()));
    expect(await running.exit).toBe(2);
    expect(running.output.err).toMatch(
      /^animal-store: MONGODB_URL: the server rejects the user, the password or the rights: .*\n$/,
    );
    expect(running.output.err).not.toContain(SECRET);
    expect(running.output.out).not.toContain(SECRET);
  });

  test('starts without the server, warns once, responds with 503 within 5 seconds, and recovers', async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    proxy.swallow();
    const running = start(url);
    const { add, call } = await running.listens();
    expect((await call('GET', '/livez', { key: null })).status).toBe(200);
    for (const path of ['/v1/pets', '/v1/pets/1', '/readyz']) {
      const begin = performance.now();
      const { status, json, headers } = await call('GET', path);
      expect([status, json]).toEqual([503, errorLike('service_unavailable', 503)]);
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(performance.now() - begin).toBeLessThan(5_000);
    }
    expect((await add('{}')).status).toBe(400);
    expect((await call('GET', '/v1/pets', { key: 'nobody-has-this-key' })).status).toBe(401);
    await running.says(/the storage is unavailable/);
    const unavailable = running.logged(40).filter(({ at }) => at === proxy.address);
    expect(unavailable).toEqual([
      {
        level: 40,
        time: expect.any(Number),
        msg: 'the storage is unavailable: requests that need it are rejected with 503',
        at: proxy.address,
        reason: expect.stringMatching(/^[^\n]+$/),
      },
    ]);

    proxy.pass();
    await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
    await running.says(/the storage is available/);
    expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  });
});
