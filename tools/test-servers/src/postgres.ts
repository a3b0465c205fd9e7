import pg from 'pg';
import { describe, inject } from 'vitest';
import { run } from './postgres/server.ts';
import type {} from './shared-server.ts';

export { type Server, startServer, startStandby } from './postgres/server.ts';

const server = inject('postgres');

/** Declares suites that are skipped if there is no server; the end of the run says so. */
export function describeWithPostgres(name: string, suites: () => void): void {
  describe.skipIf('missing' in server)(name, suites);
}

/** How many schemas a test file can use. They are made in advance, because `freshPlace` can't wait. */
const SCHEMAS = 300;
const prefix = `test_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;
let used = 0;
// Nothing is provided to files of projects without a database that import this one.
if (server !== undefined && 'url' in server) {
  await sql(`DO $$ BEGIN FOR n IN 1..${SCHEMAS} LOOP EXECUTE 'CREATE SCHEMA ${prefix}_' || n; END LOOP; END $$`);
}

/** The URL of a schema that is new. It is left to the end of the server, which has its data in memory. */
export function freshDatabase(): string {
  used += 1;
  if (used > SCHEMAS) throw new Error(`a test file can use ${SCHEMAS} databases`);
  return inSchema(`${prefix}_${used}`);
}

/** The URL of the server's own database, as superuser. */
export function serverUrl(): string {
  if ('missing' in server) throw new Error('a test that needs PostgreSQL must stand in describeWithPostgres');
  return server.url;
}

/** The same URL with settings of its sessions. */
export function withOptions(url: string, options: string): string {
  const changed = new URL(url);
  const before = changed.searchParams.get('options');
  changed.searchParams.set('options', [before, options].filter(Boolean).join(' '));
  // The driver reads a plus sign as it is.
  return changed.href.replaceAll('+', '%20');
}

/** Runs SQL as superuser, in the schema of such a URL. The rows are those of a text with one statement. */
export function sql(text: string, url = serverUrl()): Promise<readonly Record<string, unknown>[]> {
  return run(inSchema(schemaOf(url)), text);
}

/** Locks every table of such a schema, for reading, too. The result ends the lock. */
export async function lockTables(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: inSchema(schemaOf(url)) });
  await client.connect();
  const tables = await sql(`SELECT tablename FROM pg_tables WHERE schemaname = '${schemaOf(url)}'`);
  const names = tables.map(({ tablename }) => tablename);
  await client.query(`BEGIN; LOCK TABLE ${names.join()} IN ACCESS EXCLUSIVE MODE`);
  return () => client.end();
}

function inSchema(name: string): string {
  return withOptions(serverUrl(), `-c search_path=${name}`);
}

/** The name of the schema that a URL of {@link freshDatabase} leads to. */
export function schemaOf(url: string): string {
  return /search_path=(\w+)/.exec(new URL(url).searchParams.get('options') ?? '')?.[1] ?? 'public';
}
