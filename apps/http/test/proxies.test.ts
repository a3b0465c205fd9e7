import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onFreePorts } from '@animal-store/test-kit/free-ports';
import { freshDatabaseFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { isMissing } from '@animal-store/test-kit/not-run';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  AUTHORIZATION,
  CLOSE,
  JSON_TYPE,
  KEY,
  length,
  OTHER_KEY,
  openSocket,
  request as requestBytes,
  serviceAt,
  statusesIn,
  untilClosed,
} from './service.ts';
import { type Running, startProcess } from './service-process.ts';

/** How many restarts there are: one of each instance; the environment can ask for more. */
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 2);

/** For a restart that hangs, in milliseconds. */
const RESTART_TIMEOUT = 300_000;

/** A server has 7 s in the configurations; to wait for two, one after the other, would take twice as long. In milliseconds. */
const WAIT_MAX = 13_500;

const CLIENTS = 4;

const CONFIGURATIONS = new URL('../../../tools/deploy/proxies/', import.meta.url);

interface Ports {
  readonly plain: number;
  readonly tls: number;
}

/** A configuration, on other addresses, with the certificate in this folder. */
function configuration(file: string, { plain, tls }: Ports, instances: readonly [number, number], folder: string) {
  const text = readFileSync(new URL(file, CONFIGURATIONS), 'utf8');
  const places: Record<string, string> = {
    // There may be no IPv6.
    'listen [::]:80;': '',
    'listen [::]:443 ssl;': '',
    'listen 80': `listen 127.0.0.1:${plain}`,
    'listen 443': `listen 127.0.0.1:${tls}`,
    'bind :::80 v4v6': `bind 127.0.0.1:${plain}`,
    'bind :::443 v4v6': `bind 127.0.0.1:${tls}`,
    '10.0.0.1:3000': `127.0.0.1:${instances[0]}`,
    '10.0.0.2:3000': `127.0.0.1:${instances[1]}`,
    '/etc/ssl/animal-store/': `${folder}/`,
    '/etc/ssl/animal-store.pem': `${folder}/both.pem`,
    '/var/log/nginx/': `${folder}/`,
  };
  const pattern = Object.keys(places).map((place) => place.replaceAll(/[[\].]/g, String.raw`\$&`));
  return text.replaceAll(new RegExp(pattern.join('|'), 'g'), (found) => places[found] as string);
}

/** Makes a certificate in a folder, as the configurations name it. */
function makeCertificate(folder: string): void {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=proxy'.split(' ');
  execFileSync('openssl', [...words, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  writeFileSync(join(folder, 'both.pem'), readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'));
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);

const PROXIES = {
  nginx: {
    package: 'nginx-light',
    file: 'nginx.conf',
    words: (folder: string) => ['-p', folder, '-c', 'configuration', '-e', 'stderr'],
    /** The text that a package puts around the configuration. */
    whole: (text: string) => `
      daemon off;
      pid nginx.pid;
      error_log stderr crit;
      events {}
      http {
        ${TEMPORARY.join(' ')}
        ${text}
      }`,
  },
  haproxy: {
    package: 'haproxy',
    file: 'haproxy.cfg',
    words: (folder: string) => ['-db', '-f', join(folder, 'configuration')],
    /** Otherwise two that listen on one port would share its connections. A package logs to the journal. */
    whole: (text: string) => `global\n  noreuseport\n  log stdout format raw local0\n${text}\n`,
  },
} as const;

/** Changes a configuration as an operator does. */
type Adapt = (text: string) => string;

/** Starts a proxy for the running test, and returns its ports, and what it has logged. */
const startProxy = (name: keyof typeof PROXIES, instances: readonly [number, number], adapt?: Adapt) =>
  onFreePorts(2, (plain, tls) => startProxyAt({ plain, tls }, name, instances, adapt));

async function startProxyAt(
  ports: Ports,
  name: keyof typeof PROXIES,
  instances: readonly [number, number],
  adapt: Adapt = (text) => text,
): Promise<Ports & { log(): string }> {
  const { file, words, whole } = PROXIES[name];
  const folder = freshFolder();
  makeCertificate(folder);
  const accessLog = join(folder, 'access.log');
  writeFileSync(accessLog, '');
  writeFileSync(join(folder, 'configuration'), whole(adapt(configuration(file, ports, instances, folder))));
  const child = spawn(name, words(folder), { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (text) => {
      log += text;
    });
  }
  const exit = new Promise((resolve) => child.on('close', resolve));
  // The port may have become another program's, which would respond instead.
  const end = exit.then(() => Promise.reject(new Error(`${name} ended with ${child.exitCode}: ${log}`)));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exit;
  });
  const { call } = serviceAt(ports.plain);
  const statuses = () =>
    Promise.all(['/livez', '/openapi.json'].map((path) => call('GET', path, { key: null }))).then(
      (replies) => replies.map(({ status }) => status),
      () => log,
    );
  // An instance would respond with 200 to both.
  await Promise.race([expect.poll(statuses).toEqual([404, 200]), end]);
  return { ...ports, log: () => log + readFileSync(accessLog, 'utf8') };
}

const start = (port: number, storage: Record<string, string> = { STORAGE: 'memory' }) =>
  startProcess({ API_KEYS: KEY, PORT: String(port), NODE_ENV: 'production', ...storage });

/** Starts an instance behind a proxy. */
async function startBehind(name: keyof typeof PROXIES, adapt?: Adapt) {
  const instance = start(0);
  const direct = await instance.listens();
  const { plain, tls, log } = await startProxy(name, [direct.port, direct.port], adapt);
  return { instance, direct, proxied: serviceAt(plain), tls, log };
}

/** Sends requests until it is stopped, and counts the responses by status; those that fail, by the error's message. */
function startClients(port: number) {
  const url = `http://127.0.0.1:${port}/v1/pets`;
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const counts: Record<string, number> = {};
  let running = true;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let turn = client; running; turn += 1) {
      const creation = { ...headers, 'idempotency-key': `${client}-${turn}` };
      const init =
        turn % 2 === 0 ? { headers } : { method: 'POST', headers: creation, body: '{"name":"Rex","categoryId":1}' };
      const result = await fetch(url, init).then(
        (response) => response.text().then(() => response.status),
        (error: Error) => String(error.cause),
      );
      counts[result] = (counts[result] ?? 0) + 1;
    }
  });
  return async () => {
    running = false;
    await Promise.all(clients);
    return counts;
  };
}

for (const name of Object.keys(PROXIES) as (keyof typeof PROXIES)[]) {
  const missing = isMissing({
    found: spawnSync(name, ['-v']).error === undefined,
    tests: `the tests of the configuration of ${name}`,
    because: `${name} is not installed`,
    remedy: `Install the Debian package ${PROXIES[name].package}.`,
  });

  describe.skipIf(missing)(`${name} with the configuration of tools/deploy/proxies`, () => {
    test(
      `fails no request during ${RESTARTS} rolling restarts`,
      async () => {
        // Of which no connection can take one during a restart.
        const { ports, instances } = await onFreePorts(2, async (one, two) => {
          const instances = [start(one), start(two)];
          await Promise.all(instances.map(({ listens }) => listens()));
          return { ports: [one, two] as const, instances };
        });
        const stopClients = startClients((await startProxy(name, ports)).plain);
        for (let count = 0; count < RESTARTS; count += 1) {
          // The proxy sends requests to both.
          await Promise.all(instances.map(({ says }) => says(/"\/v1\/pets"/)));
          const index = count % 2;
          const old = instances[index] as Running;
          old.process.kill('SIGTERM');
          expect(await old.exit).toBe(0);
          instances[index] = start(ports[index] as number);
          await instances[index].listens();
        }
        const counts = await stopClients();
        expect(counts).toEqual({ 200: expect.any(Number), 201: expect.any(Number) });
      },
      RESTARTS * RESTART_TIMEOUT,
    );

    test('serves clients over TLS, but neither probes nor metrics, in no spelling of their paths', async () => {
      const { direct, proxied, tls } = await startBehind(name);
      const statusOverTls = (path: string) =>
        new Promise((resolve, reject) => {
          const headers = { authorization: `Bearer ${KEY}` };
          request({ host: '127.0.0.1', port: tls, path, headers, rejectUnauthorized: false }, ({ statusCode }) =>
            resolve(statusCode),
          )
            .on('error', reject)
            .end();
        });
      expect(await statusOverTls('/v1/pets')).toBe(200);
      const paths = ['/livez', '/readyz', '/healthz', '/metrics'];
      const spellings = ['/%6detrics', '/v1/../metrics', '/v1/%2e%2e/metrics', '/a%2fb/../metrics', '/metrics?a=b'];
      for (const path of [...paths, ...spellings]) {
        // The service itself would respond.
        expect((await direct.call('GET', path, { key: null })).status, path).toBe(200);
        const { status, json, headers } = await proxied.call('GET', path, { key: null });
        expect([status, headers['content-type']], path).toEqual([404, 'application/json']);
        expect(json, path).toEqual({ code: 'not_found', message: expect.any(String), status: 404 });
        expect(await statusOverTls(path), path).toBe(404);
      }
    });

    test('gives each response an id that its log and that of the service have', async () => {
      const { instance, proxied, log } = await startBehind(name);
      const idOf = async (path: string, given?: string) => {
        const headers = given === undefined ? {} : { 'x-request-id': given };
        return String((await proxied.call('GET', path, { headers })).headers['x-request-id']);
      };
      const ids: string[] = [];
      for (const path of ['/v1/pets', '/metrics']) {
        expect(await idOf(path, 'a.b:c/d+e=f@g-h_1')).toBe('a.b:c/d+e=f@g-h_1');
        ids.push(await idOf(path), await idOf(path, 'two words'), await idOf(path, 'a'.repeat(129)));
      }
      for (const id of ids.slice(0, 3)) await expect.poll(() => instance.output.out).toContain(`"${id}"`);
      instance.process.kill('SIGKILL');
      await instance.exit;
      expect(await idOf('/v1/pets', 'mine')).toBe('mine');
      ids.push(await idOf('/v1/pets'));
      expect(new Set(ids).size).toBe(7);
      for (const id of [...ids, 'mine']) {
        expect(id).toMatch(/^[\da-f-]{32,36}$|^mine$/);
        await expect
          .poll(log)
          .toMatch(new RegExp(`GET /(v1/pets|metrics) .*${id}|\\{${id}\\}.*GET /(v1/pets|metrics)`));
      }
    });

    test('responds with 503 and an Error body if no instance does', async () => {
      const { instance, proxied } = await startBehind(name);
      instance.process.kill('SIGKILL');
      await instance.exit;
      // HAProxy 2.6.12 may close the first connection without a response (haproxy/haproxy#2793).
      await proxied.call('GET', '/v1/pets').catch(() => {});
      for (const headers of [{}, { 'idempotency-key': 'a' }]) {
        const { status, json, headers: fields } = await proxied.call('GET', '/v1/pets', { headers });
        expect([status, fields['content-type'], fields['retry-after']]).toEqual([503, 'application/json', '1']);
        expect(json).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
      }
    });

    test('serves reads and repeatable creations after one timeout while one of two instances hangs, and creates each once', async () => {
      const storage = { STORAGE: 'sqlite', SQLITE_FILE: freshDatabaseFile() };
      const [hung, other] = [start(0, storage), start(0, storage)];
      const [direct, { port }] = await Promise.all([hung.listens(), other.listens()]);
      const { call } = serviceAt((await startProxy(name, [direct.port, port])).plain);
      const create = (key?: string) =>
        call('POST', '/v1/pets', {
          headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
          body: '{"name":"Rex","categoryId":1}',
        });
      // Connections to both instances are open.
      for (const key of ['a', 'b', 'c', 'd']) expect((await create(key)).status).toBe(201);
      hung.process.kill('SIGSTOP');
      const begin = performance.now();
      const replies = await Promise.all([
        ...Array.from({ length: 8 }, () => call('GET', '/v1/pets')),
        ...['e', 'f', 'g', 'h'].map(create),
      ]);
      expect(performance.now() - begin).toBeLessThan(WAIT_MAX);
      expect(replies.map(({ status }) => status)).toEqual([...Array(8).fill(200), ...Array(4).fill(201)]);
      hung.process.kill('SIGCONT');
      // It responds to this after the requests that have waited for it.
      const { json } = await direct.call('GET', '/v1/pets');
      expect(json).toHaveLength(8);
    });

    test('responds with 503 after one timeout to a creation without a key that went to an instance that hangs', async () => {
      const { instance, proxied } = await startBehind(name);
      const fields = { 'content-type': 'application/json' };
      const create = () => proxied.call('POST', '/v1/pets', { headers: fields, body: '{"name":"Rex","categoryId":1}' });
      expect((await create()).status).toBe(201);
      instance.process.kill('SIGSTOP');
      const begin = performance.now();
      const { status, json, headers } = await create();
      expect(performance.now() - begin).toBeLessThan(WAIT_MAX);
      expect([status, headers['content-type'], headers['retry-after']]).toEqual([503, 'application/json', '1']);
      expect(json).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
    });

    test('waits for a body as long as the service', async () => {
      const { instance, proxied } = await startBehind(name);
      const body = '{"name":"Rex","categoryId":1}';
      const fields = `${AUTHORIZATION}${JSON_TYPE}${CLOSE}${length(body.length)}`;
      const [slow, silent] = [openSocket(proxied.port), openSocket(proxied.port)];
      const responses = [slow, silent].map(untilClosed);
      for (const socket of [slow, silent]) socket.write(requestBytes('POST /v1/pets', fields, body.slice(0, 9)));
      await sleep(12_000);
      slow.write(body.slice(9));
      expect(statusesIn((await responses[0]) ?? ''), instance.output.out).toEqual([201]);
      const [head, error] = ((await responses[1]) ?? '').split('\r\n\r\n');
      // nginx closes the connection without a response.
      if (name === 'nginx') expect(head).toBe('');
      else
        expect(JSON.parse(error ?? '')).toEqual({ code: 'invalid_request', message: expect.any(String), status: 408 });
    });

    if (name !== 'nginx') return;

    test.each([
      ['bytes that are not HTTP', 'hello\r\n\r\n'],
      ['a malformed field', requestBytes('GET /v1/pets', 'a b: c\r\n')],
      ['a header section that is too large', requestBytes('GET /v1/pets', `A: ${'a'.repeat(40_000)}\r\n`)],
      ['a target that is too long', requestBytes(`GET /${'a'.repeat(40_000)}`)],
      ['a target that is malformed', requestBytes('GET /a\0b')],
      ['a malformed escape', requestBytes('GET /%zz')],
      ['a method for tunnels', requestBytes('CONNECT a:1', CLOSE)],
    ])('rejects %s with an Error body', async (_, bytes) => {
      const [head = '', body = ''] = (await (await startBehind(name)).proxied.raw(bytes)).split('\r\n\r\n');
      expect([statusesIn(head), head]).toEqual([[400], expect.stringMatching(/^content-type: application\/json$/im)]);
      expect(JSON.parse(body)).toEqual({ code: 'invalid_request', message: expect.any(String), status: 400 });
    });

    test('rejects a body that it does not buffer as the service does', async () => {
      const { direct, proxied } = await startBehind(name);
      const headers = { 'content-type': 'application/json' };
      const { status, json } = await direct.call('POST', '/v1/pets', { headers, body: Buffer.alloc(2 ** 17) });
      const rejection = { status, json, headers: { 'x-request-id': expect.any(String) } };
      expect(await proxied.call('POST', '/v1/pets', { body: Buffer.alloc(2 ** 21) })).toMatchObject(rejection);
    });

    test('limits the requests of a key, if an operator asks for it', async () => {
      const limited = (text: string) => text.replaceAll(/^( *)#(?=\S)/gm, '$1').replace('rate=100r/s', 'rate=1r/m');
      const { call } = (await startBehind(name, limited)).proxied;
      // The burst is 50. A repeatable creation has a location of its own.
      for (let count = 0; count <= 50; count += 1) expect((await call('GET', '/v1/pets')).status).toBe(200);
      for (const headers of [{}, { 'idempotency-key': 'a' }, { authorization: `bearer  ${KEY}` }]) {
        const { status, json, headers: fields } = await call('GET', '/v1/pets', { headers });
        expect([status, fields['content-type'], fields['retry-after']]).toEqual([429, 'application/json', '1']);
        expect(fields['x-request-id']).toMatch(/^[\da-f]{32}$/);
        const message = expect.stringContaining('Retry-After');
        expect(json).toEqual({ code: 'too_many_requests', message, status: 429 });
      }
      expect((await call('GET', '/v1/pets', { key: OTHER_KEY })).status).toBe(401);
    });
  });
}
