import { behindProxy, describeWithMongo, freshDatabase } from '@animal-store/test-servers/mongodb';
import { expect, test } from 'vitest';
import { errorLike, KEY } from './service.ts';
import { startProcess } from './service-process.ts';

describeWithMongo('the service on MongoDB', () => {
  test('ends with code 2 if the server rejects the password', async () => {
    const secret = 's3cret-w0rd';
    const MONGODB_URL = freshDatabase().replace('//', `//nobody:${secret}@`);
    const running = startProcess({ STORAGE: 'mongodb', MONGODB_URL, API_KEYS: KEY });
    expect(await running.exit).toBe(2);
    const line = /^animal-store: MONGODB_URL: the server rejects the user, the password or the rights: .*\n$/;
    expect(running.output.err).toMatch(line);
    expect(running.output.err + running.output.out).not.toContain(secret);
  });

  test('starts without the server, warns once, responds with 503 within 5 seconds, and recovers', async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    proxy.swallow();
    const running = startProcess({ STORAGE: 'mongodb', MONGODB_URL: url, API_KEYS: KEY });
    const { add, call } = await running.listens();
    expect((await call('GET', '/livez', { key: null })).status).toBe(200);
    for (const path of ['/v1/pets', '/v1/pets/1', '/readyz']) {
      const begin = performance.now();
      const { status, json } = await call('GET', path);
      expect([status, json]).toEqual([503, errorLike('service_unavailable', 503)]);
      expect(performance.now() - begin).toBeLessThan(5_000);
    }
    await running.says(/the storage is unavailable/);
    const unavailable = running.logged(40).filter(({ at }) => at === proxy.address);
    expect(unavailable).toMatchObject([{ reason: expect.stringMatching(/^[^\n]+$/) }]);

    proxy.pass();
    await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
    await running.says(/the storage is available/);
    expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  });
});
