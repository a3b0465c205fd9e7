import { createHash, randomBytes } from 'node:crypto';
import { openNamedStorage } from '@animal-store/app-kit';
import { createKeyring } from '@animal-store/domain';
import { behindProxy, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { errorLike, KEY, serviceAt, startService } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

async function keyringAt(url: string) {
  const { storage } = await openNamedStorage({ MONGODB_URL: url }, 'never');
  onTestFinished(async () => {
    await storage.close();
  });
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  return createKeyring({ keys: storage.keys, digest, randomBytes, clock: Date.now });
}

describeWithMongo('the service on MongoDB', () => {
  test('starts in production with an issued key', async () => {
    const url = freshDatabase();
    const { key } = await (await keyringAt(url)).issue({ holder: 'the zoo', expiresAt: null });
    const running = startProcess({ NODE_ENV: 'production', STORAGE: 'mongodb', MONGODB_URL: url });
    const { call } = serviceAt(await listeningAt(running));
    expect((await call('GET', '/v1/pets', { key })).status).toBe(200);
    expect(running.output.out).not.toContain(key);
  });

  test('accepts an issued key, and rejects one that another process has revoked within 10 seconds', async () => {
    const url = freshDatabase();
    const { call } = await startService({ STORAGE: 'mongodb', MONGODB_URL: url });
    const keyring = await keyringAt(url);
    const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
    const status = async () => (await call('GET', '/v1/pets', { key })).status;
    expect(await status()).toBe(200);
    await keyring.revoke(record.id);
    await expect.poll(status, { interval: 200 }).toBe(401);
    expect((await call('GET', '/v1/pets')).status).toBe(200);
  });

  test('starts without the database, logs it, responds with 503 within 5 seconds, and recovers', async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    proxy.swallow();
    const running = startProcess({ STORAGE: 'mongodb', MONGODB_URL: url, API_KEYS: KEY });
    const { add, call } = serviceAt(await listeningAt(running));
    expect((await call('GET', '/livez', { key: null })).status).toBe(200);
    for (const path of ['/v1/pets', '/v1/pets/1', '/readyz']) {
      const start = performance.now();
      const response = await call('GET', path);
      expect([response.status, response.json]).toEqual([503, errorLike('service_unavailable', 503)]);
      expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(performance.now() - start).toBeLessThan(5_000);
    }
    expect((await add('{}')).status).toBe(400);
    expect((await call('GET', '/v1/pets', { key: 'nobody-has-this-key' })).status).toBe(401);
    await running.says(/the storage is unavailable/);

    proxy.pass();
    await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
    expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  });
});
