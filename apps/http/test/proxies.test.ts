import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMissing } from '@animal-store/test-kit/not-run';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RESTART_TIME, RESTARTS, restartUnderLoad, startInstances } from './rolling-restart.ts';
import { freePort, serviceAt } from './service.ts';

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
        const instances = await startInstances();
        const proxy = await startProxy(name, instances.ports);
        const counts = await restartUnderLoad(instances, proxy);
        expect([...counts.keys()].sort()).toEqual([200, 201]);
        expect((counts.get(200) ?? 0) + (counts.get(201) ?? 0)).toBeGreaterThan(200);
      },
      RESTARTS * RESTART_TIME,
    );
  },
);
