import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '@animal-store/test-kit/free-ports';
import { expect, inject, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { configurationOf, IMAGE_ENVIRONMENT, memoryFor, stopTimeFor } from './environment.ts';
import { composeCommand, MONGODB_IMAGE, POSTGRES_IMAGE } from './programs.ts';

const text = readFileSync(new URL('../compose/compose.yaml', import.meta.url), 'utf8');

/** The file as Compose reads it without variables: `${NAME:-fallback}` is the fallback. */
const { secrets, services } = parse(text.replaceAll(/\$\{\w+:?-([^}]*)\}/g, '$1'), { merge: true });
const service = services['animal-store'];
const onPostgres = services['animal-store-on-postgres'];

function configuration({ environment, secrets: mounted } = service) {
  const [secret] = Object.keys(secrets);
  expect(mounted).toEqual([secret]);
  const secretFiles = { [`/run/secrets/${secret}`]: 'the-key-of-the-tests\n' };
  return configurationOf({ ...IMAGE_ENVIRONMENT, ...environment }, secretFiles);
}

test.each([
  ['mongodb', service],
  ['postgres', onPostgres],
])('compose.yaml configures a service on %s with a key', (name, one) => {
  const { configuredKeys, storage } = configuration(one);
  expect([storage.name, configuredKeys.size]).toEqual([name, 1]);
});

test('compose.yaml publishes the service on this machine alone, without capabilities and with a read-only file system', () => {
  expect(service.ports).toEqual([`127.0.0.1:3000:${configuration().PORT}`]);
  for (const server of [services.mongodb, services.postgres]) expect(server.ports).toBeUndefined();
  const restricted = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };
  for (const ours of [service, onPostgres, services.initiation]) expect(ours).toMatchObject(restricted);
});

test('compose.yaml limits the memory to at least the need of MAX_CONNECTIONS', () => {
  const { MAX_CONNECTIONS } = configuration();
  expect(service.mem_limit).toMatch(/^\d+m$/);
  expect(Number.parseInt(service.mem_limit, 10) * 2 ** 20).toBeGreaterThanOrEqual(memoryFor(MAX_CONNECTIONS));
});

test('compose.yaml limits the log of every container', () => {
  const options = { 'max-size': expect.stringMatching(/^\d+m$/), 'max-file': expect.stringMatching(/^\d$/) };
  for (const name of Object.keys(services)) expect(services[name].logging, name).toMatchObject({ options });
});

test('compose.yaml leaves time for a graceful stop', () => {
  expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(stopTimeFor(configuration()));
});

const ROOT = new URL('../../../', import.meta.url);
const PROJECT = 'animal-store-test';

/** The image of the manual keeps its name. */
const IMAGE = 'animal-store:compose-test';

/** The commands of a section of docs/deployment.md. */
function documentedCommands(section: string): string[] {
  const manual = readFileSync(new URL('docs/deployment.md', ROOT), 'utf8');
  const [, commands = ''] = new RegExp(`^## ${section}$[^]*?^\`\`\`sh\n([^]*?)^\`\`\`$`, 'm').exec(manual) ?? [];
  return commands.trim().split('\n');
}

test.skipIf(inject('noCompose') !== null)(
  'the commands of the manual start the service, issue a key, and keep pets until they are removed',
  async () => {
    const compose = await composeCommand();
    const port = String(await freePorts(1));
    const variables = {
      ANIMAL_STORE_IMAGE: IMAGE,
      MONGODB_IMAGE,
      POSTGRES_IMAGE,
      PORT: port,
      KEY: 'the-key-of-the-tests',
    };
    /** Runs commands in the project of this test, and returns their standard output. */
    const run = async (...commands: string[]) => {
      const script = ['set -e', ...commands]
        .join('\n')
        .replaceAll('docker compose', compose)
        .replace('COMPOSE_PROJECT_NAME=animal-store', `COMPOSE_PROJECT_NAME=${PROJECT}`)
        .replaceAll(':3000/', `:${port}/`);
      const environment = { ...process.env, ...variables };
      const { stdout } = await promisify(execFile)('sh', ['-c', script], {
        cwd: fileURLToPath(ROOT),
        env: environment,
      });
      return stdout;
    };
    const [enter = '', name = '', ...rest] = documentedCommands('One machine: Compose');
    const down = rest.pop() as string;
    expect([name, down]).toEqual([
      'export COMPOSE_PROJECT_NAME=animal-store',
      expect.stringMatching(/^docker compose down /),
    ]);
    // The commands write this file, which an operator of this checkout may have.
    const keys = new URL('tools/deploy/compose/api-keys', ROOT);
    const before = existsSync(keys) ? readFileSync(keys) : null;
    if (before === null) writeFileSync(keys, '');
    const remove = () => run(enter, name, 'docker compose --profile postgres down --volumes');
    // A run that crashed may have left it.
    await remove();
    onTestFinished(async () => {
      await remove();
      if (before === null) rmSync(keys);
      else writeFileSync(keys, before);
    });

    const output = await run(enter, name, ...rest);
    expect(output).toMatch(/^\[\]/m);
    const [key = ''] = /anst_\w{36}/.exec(output) ?? [];
    const origin = `http://127.0.0.1:${port}`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const created = await fetch(`${origin}/v1/pets`, {
      method: 'POST',
      headers,
      body: '{"name":"Rex","categoryId":1}',
    });
    expect(created.status).toBe(201);
    const inspect = "docker inspect --format '{{json .HostConfig.LogConfig.Config}}' $(docker compose ps --quiet)";
    const logs = (await run(enter, name, inspect)).trim().split('\n');
    expect(new Set(logs)).toEqual(new Set([JSON.stringify({ 'max-file': '3', 'max-size': '10m' })]));
    await run(enter, name, down);

    await run(enter, name, ': >api-keys', 'API_KEYS_FILE= docker compose up --detach');
    const list = () => fetch(`${origin}/v1/pets`, { headers }).then((response) => response.text(), String);
    await expect.poll(list).toContain('"name":"Rex"');
    const former = { authorization: `Bearer ${variables.KEY}` };
    expect((await fetch(`${origin}/v1/pets`, { headers: former })).status).toBe(401);

    await run(enter, name, down, 'printf %s "$KEY" >api-keys', 'docker compose up --detach animal-store-on-postgres');
    const create = () =>
      fetch(`${origin}/v1/pets`, {
        ...{ method: 'POST', body: '{"name":"Max","categoryId":1}' },
        headers: { ...headers, ...former },
      }).then(({ status }) => status, String);
    await expect.poll(create).toBe(201);
  },
);
