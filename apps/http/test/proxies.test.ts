import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMissing } from '@animal-store/test-kit/not-run';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort, KEY, serviceAt } from './service.ts';
import { type Running, startProcess } from './service-process.ts';

/** How many restarts there are: one of each instance; the environment can ask for more. */
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 2);

/** How long a restart takes at most with default settings, in milliseconds. */
const RESTART_TIME = 25_000;

const CLIENTS = 4;

const CONFIGURATIONS = new URL('../../../tools/deploy/proxies/', import.meta.url);

/** The user and group `nobody`: proxies run without privileges, also in tests of root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** A configuration, on other addresses. */
function configuration(file: string, port: number, instances: readonly [number, number]): string {
  const text = readFileSync(new URL(file, CONFIGURATIONS), 'utf8');
  const addresses: Record<string, string> = {
    'listen 80': `listen 127.0.0.1:${port}`,
    'bind :80': `bind 127.0.0.1:${port}`,
    '10.0.0.1:3000': `127.0.0.1:${instances[0]}`,
    '10.0.0.2:3000': `127.0.0.1:${instances[1]}`,
  };
  return text.replace(/listen 80|bind :80|10\.0\.0\.[12]:3000/g, (found) => addresses[found] as string);
}

const PROXIES = {
  nginx: {
    program: 'nginx',
    file: 'nginx.conf',
    words: (folder: string) => ['-p', folder, '-c', 'configuration', '-e', 'stderr'],
    /** The text that a package puts around the configuration. */
    whole: (text: string) => `
      daemon off;
      pid nginx.pid;
      error_log stderr crit;
      events {}
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        ${text}
      }`,
  },
  haproxy: {
    program: 'haproxy',
    file: 'haproxy.cfg',
    words: (folder: string) => ['-db', '-f', join(folder, 'configuration')],
    whole: (text: string) => `${text}\n`,
  },
} as const;

/** Starts a proxy for the running test, and returns its port. */
async function startProxy(name: keyof typeof PROXIES, instances: readonly [number, number]): Promise<number> {
  const { program, file, words, whole } = PROXIES[name];
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), `animal-store-${name}-`));
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  writeFileSync(join(folder, 'configuration'), whole(configuration(file, port, instances)));
  const child = spawn(program, words(folder), {
    // HAProxy returns to its folder, which another user than root may not be able to enter.
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  let log = '';
  child.stderr.on('data', (text) => {
    log += text;
  });
  const exit = new Promise((resolve) => child.on('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exit;
    rmSync(folder, { recursive: true });
  });
  const status = () =>
    serviceAt(port)
      .call('GET', '/livez', { key: null })
      .then(
        (response) => response.status,
        () => `${child.exitCode} ${log}`,
      );
  await expect.poll(status).toBe(200);
  return port;
}

const start = (port: number) =>
  startProcess({ API_KEYS: KEY, PORT: String(port), NODE_ENV: 'production', STORAGE: 'memory' });

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

describe.each(Object.keys(PROXIES) as (keyof typeof PROXIES)[])(
  '%s with the configuration of tools/deploy/proxies',
  (name) => {
    const isSkipped = isMissing({
      found: spawnSync(PROXIES[name].program, ['-v']).error === undefined,
      tests: `the tests of the configuration of ${name}`,
      because: `${name} is not installed`,
      remedy: `Install the Debian package ${name === 'nginx' ? 'nginx-light' : name}.`,
    });

    test.skipIf(isSkipped)(
      `fails no request during ${RESTARTS} rolling restarts`,
      async () => {
        const ports: [number, number] = [await freePort(), await freePort()];
        const instances = ports.map(start);
        await Promise.all(instances.map(({ listens }) => listens()));
        const stopClients = startClients(await startProxy(name, ports));
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
        expect(Number(counts[200]) + Number(counts[201])).toBeGreaterThan(200);
      },
      RESTARTS * RESTART_TIME,
    );
  },
);
