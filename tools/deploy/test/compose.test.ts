import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { freePorts } from '@animal-store/test-kit/free-ports';
import { ROOT, run as runProgram } from '@animal-store/test-kit/programs';
import { callsTo, KEY } from '@animal-store/test-kit/service';
import { IMAGE as MONGODB_IMAGE } from '@animal-store/test-servers/mongodb/server';
import { expect, inject, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { configurationOf, expectEnough, IMAGE_ENVIRONMENT } from './environment.ts';
import { buildImage, composeCommand, documented } from './programs.ts';

const text = readFileSync(new URL('../compose/compose.yaml', import.meta.url), 'utf8');

/** The file as Compose reads it without variables: `${NAME:-fallback}` is the fallback. */
const { secrets, services } = parse(text.replaceAll(/\$\{\w+:?-([^}]*)\}/g, '$1'));
const service = services['animal-store'];

function configuration() {
  const [secret] = Object.keys(secrets);
  expect(service.secrets).toEqual([secret]);
  const secretFiles = { [`/run/secrets/${secret}`]: 'the-key-of-the-tests\n' };
  return configurationOf({ ...IMAGE_ENVIRONMENT, ...service.environment }, secretFiles);
}

test('compose.yaml configures a service on mongodb with a key', () => {
  const { configuredKeys, storage } = configuration();
  expect([storage.name, configuredKeys.size]).toEqual(['mongodb', 1]);
});

test('compose.yaml publishes the service on this machine alone, without capabilities and with a read-only file system', () => {
  expect(service.ports).toEqual([`127.0.0.1:3000:${configuration().PORT}`]);
  expect(services.mongodb.ports).toBeUndefined();
  const restricted = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };
  for (const ours of [service, services.initiation]) expect(ours).toMatchObject(restricted);
});

test('compose.yaml allows the memory that MAX_CONNECTIONS needs, and the time of a graceful stop', () => {
  const [memory, seconds] = [/^(\d+)m$/.exec(service.mem_limit), /^(\d+)s$/.exec(service.stop_grace_period)];
  expectEnough(configuration(), { memory: Number(memory?.[1]), seconds: Number(seconds?.[1]) });
});

test('compose.yaml builds no image, so that one with a revision is never replaced by one without', () => {
  for (const name of Object.keys(services)) expect(services[name].build, name).toBeUndefined();
});

test('compose.yaml limits the log of every container', () => {
  const options = { 'max-size': expect.stringMatching(/^\d+m$/), 'max-file': expect.stringMatching(/^\d$/) };
  for (const name of Object.keys(services)) expect(services[name].logging, name).toMatchObject({ options });
});

const PROJECT = 'animal-store-test';

/** Runs the statement that follows a restore, which docs/storage-mongodb.md has for mongosh, with the driver in the image. */
const AFTER_RESTORE = `
  const { MongoClient, Long: { fromString: Long } } = await import('mongodb');
  const client = new MongoClient(process.env.MONGODB_URL);
  const db = { counters: client.db().collection('counters') };
  await ${documented('storage-mongodb.md', /--eval '(db\.counters\..+)'$/m)};
  await client.close();
`;

test.skipIf(inject('missing').includes('Compose'))(
  'the commands of the manuals start the service, issue a key, keep pets until they are removed, and skip ids after a restore',
  async () => {
    const compose = await composeCommand();
    const port = String(await freePorts(1));
    const ANIMAL_STORE_IMAGE = await buildImage({});
    const variables = { ANIMAL_STORE_IMAGE, MONGODB_IMAGE, PORT: port, API_KEY: KEY, AFTER_RESTORE };
    /** Runs commands in the project of this test, and returns their standard output. */
    const run = (...commands: string[]) => {
      const script = ['set -e', ...commands]
        .join('\n')
        .replaceAll('docker compose', compose)
        .replace('COMPOSE_PROJECT_NAME=animal-store', `COMPOSE_PROJECT_NAME=${PROJECT}`)
        .replaceAll(':3000/', `:${port}/`);
      return runProgram('sh', ['-c', script], { cwd: ROOT, env: { ...process.env, ...variables } });
    };
    const commands = documented('deployment.md', /^## One machine: Compose$.*?^```sh\n(.*?)\n```$/ms);
    const [enter = '', name = '', ...rest] = commands.split('\n');
    const down = rest.pop() as string;
    expect(name).toBe('export COMPOSE_PROJECT_NAME=animal-store');
    // The commands write this file, which an operator of this checkout may have.
    const keys = `${ROOT}/tools/deploy/compose/api-keys`;
    const before = existsSync(keys) ? readFileSync(keys) : null;
    if (before === null) writeFileSync(keys, '');
    const remove = () => run(enter, name, 'docker compose down --volumes');
    // A run that crashed may have left it.
    await remove();
    onTestFinished(async () => {
      await remove();
      if (before === null) rmSync(keys);
      else writeFileSync(keys, before);
    });

    const output = await run(enter, name, ...rest);
    expect(output).toMatch(/^\[\]/m);
    const [issued = ''] = /anst_\w{36}/.exec(output) ?? [];
    const { call, add } = callsTo(`http://127.0.0.1:${port}`);
    expect((await add('Rex', issued)).status).toBe(201);
    await run(enter, name, down);

    const inDriver = '--workdir /app/packages/adapter-mongodb animal-store node --input-type=module';
    await run(enter, name, `docker compose run --rm ${inDriver} --eval "$AFTER_RESTORE"`);
    await run(enter, name, ': >api-keys', 'API_KEYS_FILE= docker compose up --detach');
    const list = () => call('/v1/pets', issued).then((response) => response.text(), String);
    await expect.poll(list).toContain('"name":"Rex"');
    expect(await (await add('Max', issued)).text()).toMatch(/^\{"id":10000\d\d,/);
    expect((await call('/v1/pets')).status).toBe(401);
  },
);
