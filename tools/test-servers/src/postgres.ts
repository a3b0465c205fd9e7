import pg from 'pg';
import { inject } from 'vitest';
import type { Missing } from './shared-server.ts';
import { describeIf } from './suites.ts';

export { type Server, startServer, startStandby } from './postgres/server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { readonly url: string } | Missing;
  }
}

const server = inject('postgres');
let admin: pg.Pool | null = null;

/** Suites that need a server. */
export const describeWithPostgres = describeIf(() => !('missing' in server), closeAdmin);

/** How many schemas a test file can use. They are made in advance, because `freshPlace` can't wait. */
const SCHEMAS = 300;
const schemas: string[] = [];
if (server !== undefined && 'url' in server) {
  const prefix = `test_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;
  await sql(`DO $$ BEGIN FOR n IN 1..${SCHEMAS} LOOP EXECUTE 'CREATE SCHEMA ${prefix}_' || n; END LOOP; END $$`);
  await closeAdmin();
  for (let number = 1; number <= SCHEMAS; number += 1) schemas.push(`${prefix}_${number}`);
}

/** The URL of a schema that is new. It is left to the end of the server, which has its data in memory. */
export function freshDatabase(): string {
  const name = schemas.pop();
  if (name === undefined) throw new Error(`a test file can use ${SCHEMAS} databases`);
  return withOptions(serverUrl(), `-c search_path=${name}`);
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

/** Runs SQL as superuser, in the schema of such a URL. */
export async function sql(text: string, url?: string): Promise<Record<string, unknown>[]> {
  admin ??= new pg.Pool({ connectionString: serverUrl(), max: 2 });
  const client = await admin.connect();
  try {
    const path = url === undefined ? 'public' : schemaOf(url);
    await client.query(`SET search_path = ${path}`);
    return (await client.query(text)).rows;
  } finally {
    client.release();
  }
}

/** Locks every table of such a schema, for reading, too. The result ends the lock. */
export async function lockTables(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  const tables = await sql(`SELECT tablename FROM pg_tables WHERE schemaname = '${schemaOf(url)}'`);
  await client.query(`BEGIN; SET search_path = ${schemaOf(url)}`);
  await client.query(`LOCK TABLE ${tables.map(({ tablename }) => tablename).join()} IN ACCESS EXCLUSIVE MODE`);
  return () => client.end();
}

/** The name of the schema that a URL of {@link freshDatabase} leads to. */
export function schemaOf(url: string): string {
  return /search_path=(\w+)/.exec(new URL(url).searchParams.get('options') ?? '')?.[1] ?? 'public';
}

async function closeAdmin(): Promise<void> {
  await admin?.end();
  admin = null;
}
