import { startTcpProxy } from '@animal-store/adapter-contract';
import type { Storage } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { freshDatabase, schemaOf, serverUrl, sql } from '@animal-store/test-servers/postgres';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { createPostgresStorage, type PostgresStorageOptions } from '../src/index.ts';

/** A storage that is closed when the running test ends. */
export function openStorage(url: string, options?: Partial<PostgresStorageOptions>): Storage {
  const storage = createPostgresStorage({ url, ...options });
  onTestFinished(() => storage.close());
  return storage;
}

/** Waits until a storage works: on a busy machine the tables may take longer than a call. */
export async function untilReady(ready: Storage['ready']): Promise<void> {
  await vi.waitUntil(async () => (await failureOf(ready)) === null, { timeout: 120_000 });
}

/** A connection of the driver, which is closed when the running test ends. */
export async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The same URL by way of a proxy, which leads each connection to a host. The host of the URL is given. */
export async function leading(url: string, hostOf: (host: string) => string | Promise<string>): Promise<string> {
  const { host } = new URL(url);
  const proxy = await startTcpProxy(() => hostOf(host));
  onTestFinished(() => proxy.close());
  return url.replace(host, proxy.addresses[0]);
}

/** The URL of a database of its own, as superuser. It is dropped when the test ends. */
export async function newDatabase(options = ''): Promise<string> {
  const name = `animals_${crypto.randomUUID().slice(0, 8)}`;
  await sql(`CREATE DATABASE ${name} ${options}`);
  onTestFinished(async () => void (await sql(`DROP DATABASE ${name} WITH (FORCE)`)));
  return serverUrl().replace('/animals', `/${name}`);
}

/** What the operator reads about a call that fails; null if it succeeds, or fails for another reason. */
export const lineOf = async (call: () => unknown): Promise<string | null> => misconfigurationOf(await failureOf(call));

/** The same URL for a new role, which is dropped when the test ends. */
export async function asRole(url: string, settings = ''): Promise<{ url: string; role: string }> {
  const role = `role_${crypto.randomUUID().slice(0, 8)}`;
  await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'; ${settings.replaceAll('ROLE', `ROLE ${role}`)}`);
  onTestFinished(async () => {
    await sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });
  return { url: url.replace(/\/\/[^@]*@/, `//${role}:secret@`), role };
}

/** The same URL for a new role, which may create the tables. */
export async function asOwner(url: string): Promise<{ url: string; role: string }> {
  const owner = await asRole(url);
  await sql(`GRANT ALL ON SCHEMA ${schemaOf(url)} TO ${owner.role}`);
  return owner;
}

/** A new database, in which tables exist. */
export async function freshStorage(url = freshDatabase()) {
  const storage = openStorage(url);
  await untilReady(storage.ready);
  return { ...storage, url };
}

/** Closes the connections of a role, or of an application. */
export async function closeConnections(of: string): Promise<void> {
  await sql(
    `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE '${of}' IN (usename, application_name)`,
  );
}
