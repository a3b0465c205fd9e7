import { createHash, randomBytes } from 'node:crypto';
import { openNamedStorage } from '@animal-store/app-kit';
import { createKeyring } from '@animal-store/domain';
import { behindProxy, describeWithMongo, freshDatabase, startLoneServer } from '@animal-store/test-mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, serviceAt } from './service.ts';
import { listeningAt, type Running, startProcess } from './service-process.ts';

const SECRET = 's3cret-w0rd';
const withWrongPassword = (url: string) => url.replace('//', `//nobody:${SECRET}@`);
const start = (url: string) => startProcess({ STORAGE: 'mongodb', MONGODB_URL: url, API_KEYS: KEY });
const lines = ({ output }: Running, level: number) =>
  output.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['level'] === level);

describeWithMongo('at the start', () => {
  test('ends with code 2 and one line on what to do if the server is a standalone', async () => {
    const server = await startLoneServer('standalone');
    onTestFinished(() => server.stop());
    const running = start(server.url('animals'));
    expect(await running.exit).toBe(2);
    expect(running.output.err).toBe(
      'animal-store: MONGODB_URL: the server is a standalone: majority writes need a replica set (one member is ' +
        'enough): start mongod with --replSet and run rs.initiate()\n',
    );
  });
});

test('warns at the start of an option that switches off the verification of certificates', async () => {
  const running = start(`mongodb://user:${SECRET}@127.0.0.1:1/animals?tls=true&tlsInsecure=true`);
  await running.says(/not verified/);
  expect(lines(running, 40)[0]?.['msg']).toBe(
    "MONGODB_URL: tlsInsecure or tlsAllowInvalidCertificates: the server's certificate is not verified, remove the option",
  );
});

test('ends with code 2 and one line if tlsCAFile does not exist', async () => {
  const running = start('mongodb://127.0.0.1:1/animals?tls=true&tlsCAFile=/nowhere.pem');
  expect(await running.exit).toBe(2);
  expect(running.output.err).toMatch(/^animal-store: MONGODB_URL: a file that the URL names [^\n]*nowhere\.pem'\n$/);
});

describeWithMongo('at the start', () => {
  test('ends with code 2 and one line without the password if the password is wrong', async () => {
    const running = start(withWrongPassword(freshDatabase()));
    expect(await running.exit).toBe(2);
    expect(running.output.err).toBe(
      'animal-store: MONGODB_URL: the server rejects the user, the password or the rights\n',
    );
    expect(running.output.out).not.toContain(SECRET);
  });

  test('logs one warning without stack and password while the server is unavailable, and one line when it is back', async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    proxy.swallow();
    const running = start(url);
    await running.says(/the storage is unavailable/);
    expect(lines(running, 40)).toEqual([
      {
        level: 40,
        time: expect.any(Number),
        msg: 'the storage is unavailable: requests that need it are rejected with 503 until it is available',
        storage: 'mongodb',
        at: proxy.address,
        reason: expect.stringMatching(/^[^\n]+$/),
      },
    ]);
    proxy.pass();
    // Without anybody's asking.
    await running.says(/the storage is available/);
    const { call } = serviceAt(await listeningAt(running));
    expect((await call('GET', '/v1/pets')).status).toBe(200);
    expect(lines(running, 40)).toHaveLength(1);
  });

  test('ends with code 2 if the server rejects the password as soon as it is available', async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    proxy.swallow();
    const running = start(withWrongPassword(url));
    await running.says(/the storage is unavailable/);
    proxy.pass();
    expect(await running.exit).toBe(2);
    expect(running.output.err).toMatch(/^animal-store: MONGODB_URL: the server rejects [^\n]*\n$/);
    expect(running.output.out + running.output.err).not.toContain(SECRET);
  });

  test('ends with code 2 in production if all keys are revoked or expired', async () => {
    const url = freshDatabase();
    const { storage } = await openNamedStorage({ MONGODB_URL: url }, 'never');
    onTestFinished(async () => storage.close());
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    const issue = async (clock: () => number, expiresAt: number | null) => {
      const keyring = createKeyring({ keys: storage.keys, digest, randomBytes, clock });
      return { keyring, ...(await keyring.issue({ holder: 'the zoo', expiresAt })) };
    };
    await issue(() => 0, Date.now() - 1_000);
    const { keyring, record } = await issue(Date.now, null);
    await keyring.revoke(record.id);

    const environment = { NODE_ENV: 'production', STORAGE: 'mongodb', MONGODB_URL: url };
    const rejected = startProcess(environment);
    expect(await rejected.exit).toBe(2);
    expect(rejected.output.err).toBe(
      'animal-store: there is no API key that is valid, all are revoked or expired: set API_KEYS or issue a key\n',
    );

    const { key } = await issue(Date.now, Date.now() + 60_000);
    const { call } = serviceAt(await listeningAt(startProcess(environment)));
    expect((await call('GET', '/v1/pets', { key })).status).toBe(200);
  });
});
