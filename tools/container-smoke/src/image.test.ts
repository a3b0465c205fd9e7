import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { makeNetwork, start } from './containers.ts';
import { buildImage, docker, MONGODB_IMAGE } from './docker.ts';

const KEY = 'a-key-for-the-smoke-test';
const VERSION = '1.2.3-smoke';

/** As an operator would lock it up. */
const LOCKED_UP = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--user=1000'];

/** The image's own check of its health, more often. */
const SOON = ['--health-interval=300ms'];

const PUBLISHED = ['--publish=127.0.0.1::3000'];

let image: string;

describe.skipIf(inject('noContainers') !== null)('the container image', () => {
  beforeAll(async () => {
    image = await buildImage(VERSION);
  }, 600_000);

  test('says what it is, whom it runs as and how it is started, and is small', async () => {
    const [{ Config, Size }] = JSON.parse(await docker('image', 'inspect', image));
    expect(Config.User).toBe('1000:1000');
    // Without a shell in between, which would keep signals to itself.
    expect([Config.Entrypoint, Config.Cmd]).toEqual([null, ['node', 'apps/http/dist/main.js']]);
    expect(Config.Healthcheck.Test.slice(0, 2)).toEqual(['CMD', 'node']);
    expect(Object.keys(Config.ExposedPorts)).toEqual(['3000/tcp']);
    expect(Config.Env).toEqual(expect.arrayContaining(['NODE_ENV=production', 'HOST=0.0.0.0']));
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Animal Store',
      'org.opencontainers.image.version': VERSION,
    });
    expect(Size / 1e6).toBeLessThan(180);
  });

  test('holds what is needed to run, and nothing that its user could change', async () => {
    const files = JSON.parse(await docker('run', '--rm', image, 'node', '--eval', LIST_FILES)) as ListedFile[];
    const paths = files.map(({ path }) => path);
    const WANTED = ['/app/apps/http/dist/main.js', '/app/apps/cli/dist/main.js', '/app/LICENSE'];
    expect(paths).toEqual(expect.arrayContaining(WANTED));
    const UNWANTED = /\.(?:[cm]?ts|map|env|npmrc|pem|key)$|\/(?:npm|pnpm|sh|bash)$/;
    expect(paths.filter((path) => UNWANTED.test(path))).toEqual([]);
    const packages = [...new Set(paths.flatMap((path) => /\/\.pnpm\/((?:@[^/]+\+)?[^/@]+)@/.exec(path)?.[1] ?? []))];
    expect(packages).toEqual(expect.arrayContaining(['hono', 'mongodb', 'prom-client']));
    const FOR_DEVELOPERS = /^(?:typescript|vitest|turbo|testcontainers|fast-check|playwright-core|node-linux-.*)$/;
    expect(packages.filter((name) => FOR_DEVELOPERS.test(name))).toEqual([]);
    expect(files.filter(({ owner, writable }) => owner !== 0 || writable).map(({ path }) => path)).toEqual(['/data']);
  });

  test('locked up it becomes healthy, knows its callers, and adds and lists animals', async () => {
    const container = await start(...LOCKED_UP, ...SOON, ...PUBLISHED, `--env=API_KEYS=${KEY}`, image);
    await healthOf(container, 'healthy');
    const { call, add } = await serviceIn(container);

    expect((await call('/livez')).status).toBe(200);
    expect((await call('/readyz')).status).toBe(200);
    expect((await call('/v1/pets')).status).toBe(401);
    expect((await call('/v1/pets', 'not the key that it has')).status).toBe(401);
    expect(await (await add('Rex')).text()).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807}');
    expect(await (await call('/v1/pets', KEY)).text()).toBe('[{"id":1,"name":"Rex","categoryId":9223372036854775807}]');

    // Its files come from packages and from beside the built modules.
    for (const path of ['/docs', '/docs/docs.js', '/docs/swagger-ui-bundle.js', '/metrics', '/openapi.json']) {
      expect((await call(path)).status, path).toBe(200);
    }

    // The first process in it, as the kernel sees it.
    const status = await docker('exec', container, 'node', '--print', 'fs.readFileSync("/proc/1/status", "utf8")');
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    const write = 'try { fs.writeFileSync("/app/file", ""); "written" } catch (error) { error.code }';
    expect(await docker('exec', container, 'node', '--print', write)).toBe('EROFS');
  });

  test('where nothing answers, it is unhealthy', async () => {
    const container = await start(
      ...[...LOCKED_UP, ...SOON, '--health-retries=1', '--health-start-period=1ms'],
      ...[image, 'node', '--eval', 'setInterval(() => {}, 1_000)'],
    );
    await healthOf(container, 'unhealthy');
  });

  test('without a key it refuses to start, and says why', async () => {
    const refusal = await docker('run', '--rm', ...LOCKED_UP, image).catch((error) => error);
    expect(refusal).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^animal-store: API_KEYS must/),
    });
  });

  test('told to stop, it answers what is in flight and ends with 0, long before the deadline', async () => {
    const container = await start(...LOCKED_UP, ...PUBLISHED, `--env=API_KEYS=${KEY}`, image);
    const { port } = await serviceIn(container);
    const body = '{"name":"Rex","categoryId":1}';
    const inFlight = request({
      ...{ port, method: 'POST', path: '/v1/pets' },
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    const answered = new Promise<number | undefined>((resolve, reject) => {
      inFlight.on('response', ({ statusCode }) => resolve(statusCode));
      inFlight.on('error', reject);
    });
    const taken = new Promise<void>((resolve) => inFlight.on('continue', resolve));
    inFlight.flushHeaders();
    await taken;
    inFlight.write(body.slice(0, 10));

    const begin = performance.now();
    await docker('kill', '--signal=TERM', container);
    await expect.poll(() => docker('logs', container), { timeout: 5_000 }).toContain('"stopping"');
    await sleep(500);
    inFlight.end(body.slice(10));
    expect(await answered).toBe(201);
    expect(await docker('wait', container)).toBe('0');
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  test('told to stop while it still loads, it ends with 0, though the kernel spares the first process of a container', async () => {
    const atOnce = `--env=NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(SIGNAL_ON_LOADING)}`;
    expect(await docker('run', '--rm', ...LOCKED_UP, `--env=API_KEYS=${KEY}`, atOnce, image)).toBe('');
  });

  test('on MongoDB the animals outlive the container, and the command line in the image issues keys', async () => {
    const network = await makeNetwork();
    const near = [`--network=${network}`, '--env=STORAGE=mongodb', `--env=MONGODB_URL=${MONGODB_URL}`];
    await start(`--network=${network}`, '--network-alias=mongodb', '--tmpfs=/data/db', MONGODB_IMAGE, '--replSet=rs0');
    const once = ['run', '--rm', ...LOCKED_UP, ...near];
    await docker(...once, '--workdir=/app/packages/adapter-mongodb', image, 'node', '--eval', INITIATE);

    const issueKey = ['node', 'apps/cli/dist/main.js', 'keys', 'issue', '--holder', 'the zoo'];
    const issued = await docker(...once, image, ...issueKey);
    const { key } = JSON.parse(issued);
    const first = await start(...LOCKED_UP, ...SOON, ...PUBLISHED, ...near, image);
    expect((await (await serviceIn(first)).add('Rex', key)).status).toBe(201);
    await docker('stop', first);
    expect(await docker('wait', first)).toBe('0');

    const second = await start(...LOCKED_UP, ...SOON, ...PUBLISHED, ...near, image);
    expect(await (await (await serviceIn(second)).call('/v1/pets/1', key)).text()).toContain('"name":"Rex"');
  });

  test('on SQLite they outlive it in a volume', async () => {
    const on = [
      '--volume=/data',
      '--env=STORAGE=sqlite',
      '--env=SQLITE_FILE=/data/animals.db',
      `--env=API_KEYS=${KEY}`,
    ];
    const container = await start(...LOCKED_UP, ...PUBLISHED, ...on, image);
    expect((await (await serviceIn(container)).add('Rex')).status).toBe(201);
    await docker('restart', container);
    expect(await (await (await serviceIn(container)).call('/v1/pets/1', KEY)).text()).toContain('"name":"Rex"');
  });
});

interface ListedFile {
  readonly path: string;
  readonly owner: number;
  readonly writable: boolean;
}

/** Prints the files of the image, those of the kernel and the engine left out. */
const LIST_FILES = `
  const files = [];
  const list = (folder) => {
    for (const entry of fs.readdirSync(folder + '/', { withFileTypes: true })) {
      const path = folder + '/' + entry.name;
      if (entry.isSymbolicLink() || /^\\/(?:proc|sys|dev|\\.dockerenv|etc\\/(?:hosts|hostname|resolv.conf))$/.test(path)) continue;
      const { uid: owner, mode } = fs.statSync(path);
      files.push({ path, owner, writable: (mode & 0o022) !== 0 });
      if (entry.isDirectory()) list(path);
    }
  };
  list('');
  console.log(JSON.stringify(files));
`;

/** Sends the first process SIGTERM as soon as it loads anything beside its first file. */
const SIGNAL_ON_LOADING = `
  import { registerHooks } from 'node:module';
  let sent = false;
  registerHooks({
    load(url, context, next) {
      if (!sent && !url.endsWith('/main.js')) sent = process.kill(1, 'SIGTERM');
      return next(url, context);
    },
  });
`;

const MONGODB_URL = 'mongodb://mongodb:27017/animals?replicaSet=rs0';

/** Makes a replica set of the server, with the driver that the image brings along. */
const INITIATE = `
  import('mongodb').then(async ({ MongoClient }) => {
    const client = new MongoClient('mongodb://mongodb:27017/?directConnection=true', { serverSelectionTimeoutMS: 30_000 });
    const admin = client.db('admin');
    await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: 'mongodb:27017' }] } });
    while (!(await admin.command({ hello: 1 })).isWritablePrimary) await new Promise((resolve) => setTimeout(resolve, 50));
    await client.close();
  });
`;

/** Waits until the image's check of its health says so. */
async function healthOf(container: string, health: string): Promise<void> {
  const read = () => docker('inspect', '--format', '{{.State.Health.Status}}', container);
  await expect.poll(read, { timeout: 20_000, interval: 200 }).toBe(health);
}

/** The service in a container, once it listens. */
async function serviceIn(container: string) {
  const [, port = ''] = /:(\d+)$/.exec(await docker('port', container, '3000/tcp')) ?? [];
  const call = (path: string, key?: string, init: RequestInit = {}) => {
    const credentials = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers: { ...credentials, ...init.headers } });
  };
  const add = (name: string, key = KEY) =>
    call('/v1/pets', key, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"name":${JSON.stringify(name)},"categoryId":9223372036854775807}`,
    });
  const ready = () => call('/readyz').then(({ status }) => status, String);
  await expect.poll(ready, { timeout: 20_000, interval: 100 }).toBe(200);
  return { port, call, add };
}
