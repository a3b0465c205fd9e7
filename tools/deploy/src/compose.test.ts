import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configurationOf, memoryFor } from './environment.ts';

const text = readFileSync(new URL('../../../compose.yaml', import.meta.url), 'utf8');

/** As Compose reads it where nothing is set: `${NAME:-fallback}` is the fallback. */
const { services } = parse(text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'));
const service = services['animal-store'];

test('the service takes the variables it is given, and knows each of them', () => {
  const { ignored, production, storage } = configurationOf(service.environment);
  expect({ ignored, production, storage: storage.name }).toEqual({ ignored: [], production: true, storage: 'mongodb' });
});

test('it looks for the database where it is: the replica set has that name, and its member that address', () => {
  const { hostname, port, searchParams } = new URL(service.environment.MONGODB_URL);
  const { command, healthcheck } = services[hostname];
  const replicaSet = searchParams.get('replicaSet');
  expect(command).toEqual(expect.arrayContaining(['--replSet', replicaSet]));
  expect(healthcheck.test.at(-1)).toContain(
    `{ _id: '${replicaSet}', members: [{ _id: 0, host: '${hostname}:${port}' }] }`,
  );
});

test('it is reached from this machine alone, and is locked up', () => {
  expect(service.ports).toEqual([`127.0.0.1:3000:${configurationOf(service.environment).port}`]);
  expect(services.mongodb.ports).toBeUndefined();
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
});

test('it is given the memory that its connections may take', () => {
  const { maxConnections } = configurationOf(service.environment);
  expect(service.mem_limit).toMatch(/^\d+m$/);
  expect(Number.parseInt(service.mem_limit, 10) * 2 ** 20).toBeGreaterThanOrEqual(memoryFor(maxConnections));
});

test('it is given the time that it takes to stop', () => {
  const { stopGrace, stopDeadline } = configurationOf(service.environment);
  expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThanOrEqual((stopGrace + stopDeadline) / 1_000 + 5);
});
