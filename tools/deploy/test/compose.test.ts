import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configurationOf, memoryFor } from './environment.ts';

const text = readFileSync(new URL('../compose/compose.yaml', import.meta.url), 'utf8');

/** The file as Compose reads it without variables: `${NAME:-fallback}` is the fallback. */
const { services } = parse(text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'));
const service = services['animal-store'];

test('compose.yaml sets variables that the service knows, and its configuration is valid', () => {
  const { ignored, production, storage } = configurationOf(service.environment);
  expect({ ignored, production, storage: storage.name }).toEqual({ ignored: [], production: true, storage: 'mongodb' });
});

test('compose.yaml points the service to the replica set that it initiates', () => {
  const { hostname, port, searchParams } = new URL(service.environment.MONGODB_URL);
  const { command, healthcheck } = services[hostname];
  const replicaSet = searchParams.get('replicaSet');
  expect(command).toEqual(expect.arrayContaining(['--replSet', replicaSet]));
  expect(healthcheck.test.at(-1)).toContain(
    `{ _id: '${replicaSet}', members: [{ _id: 0, host: '${hostname}:${port}' }] }`,
  );
});

test('compose.yaml publishes the service on this machine alone, without capabilities and with a read-only file system', () => {
  expect(service.ports).toEqual([`127.0.0.1:3000:${configurationOf(service.environment).port}`]);
  expect(services.mongodb.ports).toBeUndefined();
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
});

test('compose.yaml limits the memory to at least the need of MAX_CONNECTIONS', () => {
  const { maxConnections } = configurationOf(service.environment);
  expect(service.mem_limit).toMatch(/^\d+m$/);
  expect(Number.parseInt(service.mem_limit, 10) * 2 ** 20).toBeGreaterThanOrEqual(memoryFor(maxConnections));
});

test('compose.yaml leaves time for a graceful stop', () => {
  const { stopGrace, stopDeadline } = configurationOf(service.environment);
  expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThanOrEqual((stopGrace + stopDeadline) / 1_000 + 5);
});
