// The tables, and connections to them.

import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type ApiKey, LIMITS, type Pet } from '@animal-store/domain';
import { checkFormat, type Idempotency, type StoredPet } from '@animal-store/domain/ports';
import { failureToOpen, isLocked, unusable } from './failures.ts';
import { createFile } from './file.ts';

/** Marks a file as one of ours, for us and for file(1): "Anim". */
const APPLICATION_ID = 0x416e696d;

/** The format of a new file, stored as its `user_version` (docs/releasing.md). */
export const FORMAT = 1;

/** The largest id that is assigned: the largest integer that JavaScript reads exactly. */
export const LAST_ASSIGNABLE_ID = BigInt(Number.MAX_SAFE_INTEGER);

/** The column of each member of a record, with its declaration, in the order of the table. */
type Columns<Member extends string> = Readonly<Record<Member, { readonly column: string; readonly type: string }>>;

const PET_COLUMNS = {
  id: { column: 'id', type: `INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND ${LAST_ASSIGNABLE_ID})` },
  name: { column: 'name', type: 'TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200)' },
  categoryId: { column: 'category_id', type: 'INTEGER NOT NULL' },
  status: { column: 'status', type: "TEXT CHECK (status IN ('available', 'pending', 'sold'))" },
} satisfies Columns<keyof Pet>;

const STORED_COLUMNS = {
  ...PET_COLUMNS,
  createdAt: { column: 'created_at', type: 'INTEGER NOT NULL' },
  idempotencyHolder: { column: 'idempotency_holder', type: 'TEXT' },
  idempotencyKey: {
    column: 'idempotency_key',
    type: 'TEXT CHECK (length(idempotency_key) BETWEEN 1 AND 255)',
  },
  idempotencyFingerprint: { column: 'idempotency_fingerprint', type: 'TEXT' },
} satisfies Columns<Exclude<keyof StoredPet, 'idempotency'> | `idempotency${Capitalize<keyof Idempotency>}`>;

const { id: _, ...NEW_COLUMNS } = STORED_COLUMNS;

const KEY_COLUMNS = {
  id: { column: 'id', type: 'TEXT PRIMARY KEY CHECK (id = substr(digest, 1, 16))' },
  digest: {
    column: 'digest',
    type: "TEXT NOT NULL UNIQUE CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*')",
  },
  visiblePrefix: { column: 'visible_prefix', type: 'TEXT NOT NULL' },
  holder: { column: 'holder', type: 'TEXT NOT NULL' },
  createdAt: { column: 'created_at', type: 'INTEGER NOT NULL' },
  expiresAt: { column: 'expires_at', type: 'INTEGER' },
  revokedAt: { column: 'revoked_at', type: 'INTEGER' },
  lastUsedAt: { column: 'last_used_at', type: 'INTEGER' },
} satisfies Columns<keyof ApiKey>;

/** The parts of statements on columns. */
function partsOf<Member extends string>(columns: Columns<Member>) {
  const members = Object.keys(columns) as Member[];
  return {
    /** `id, name` */
    names: members.map((member) => columns[member].column).join(', '),
    /** `?, ?` */
    parameters: members.map(() => '?').join(', '),
    declarations: members.map((member) => `${columns[member].column} ${columns[member].type}`).join(',\n    '),
    /** The position of each member in a row. */
    at: Object.fromEntries(members.map((member, index) => [member, index])) as Readonly<Record<Member, number>>,
    /** A statement whose parameters are the values of a row. */
    statementOf(sql: string, row: Readonly<Record<Member, SQLInputValue>>): Statement {
      const statement: [string, ...SQLInputValue[]] = [sql];
      for (const member of members) statement.push(row[member]);
      return statement;
    },
  };
}

/** The columns of a pet as clients know it, which come first; of one that is restored; and of one that is created. */
export const PET = partsOf(PET_COLUMNS);
export const STORED_PET = partsOf(STORED_COLUMNS);
export const NEW_PET = partsOf(NEW_COLUMNS);
export const KEY = partsOf(KEY_COLUMNS);

/**
 * Times are milliseconds since the epoch. Every index ends in the id. AUTOINCREMENT: an id is never assigned twice. The
 * functions are those of SQLite 3.40, so that the `sqlite3` of Debian 12 can check and repair a backup.
 */
export const SCHEMA = `
  CREATE TABLE pets (
    ${STORED_PET.declarations},
    CHECK ((idempotency_holder IS NULL) = (idempotency_key IS NULL)),
    CHECK ((idempotency_holder IS NULL) = (idempotency_fingerprint IS NULL))
  ) STRICT;

  CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;
  CREATE UNIQUE INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

  CREATE TABLE api_keys (
    ${KEY.declarations}
  ) STRICT, WITHOUT ROWID;

  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};`;

const FOREIGN =
  'it is the database of another program, or of a version of Animal Store that was never published: name another file';

/** SQL and the values of its parameters. */
export type Statement = readonly [sql: string, ...values: SQLInputValue[]];

/** The values of its columns. Integers are bigint. */
export type Row = readonly (string | bigint | null)[];

/** A stored time as the ports have it. A column may hold any integer: one that is no date is the farthest one. */
export const timeOf = (stored: bigint): number => Math.max(LIMITS.time.min, Math.min(Number(stored), LIMITS.time.max));

/** A connection to a file. No call waits while another connection holds a lock. */
export interface Database {
  readonly db: DatabaseSync;
  /** Runs statements, each prepared once, until one of them has rows. */
  run(statements: readonly Statement[]): readonly Row[];
}

/** SQLite creates no file, neither where a link leads nor in the place of one that was deleted. */
export const EXISTING = { mode: 'rw' };

/** The name of a file for SQLite, with parameters (https://sqlite.org/uri.html). */
export function uriOf(path: string, parameters: Readonly<Record<string, string>>): string {
  return `${pathToFileURL(path)}?${new URLSearchParams(parameters)}`;
}

/**
 * Connects to a file that exists.
 *
 * @param prepare What is done first. If it throws, the connection is closed.
 */
export function connect(
  path: string,
  prepare: (database: Database) => void = () => {},
  parameters: Readonly<Record<string, string>> = EXISTING,
): Database {
  // Rows as arrays take half the time of objects.
  const db = new DatabaseSync(uriOf(path, parameters), { returnArrays: true, readBigInts: true, open: false });
  const statements = new Map<string, StatementSync>();
  const database: Database = {
    db,
    run(list) {
      for (const [sql, ...values] of list) {
        const statement = statements.get(sql) ?? db.prepare(sql);
        statements.set(sql, statement);
        const rows = statement.all(...values) as unknown as Row[];
        if (rows.length > 0) return rows;
      }
      return [];
    },
  };
  try {
    db.open();
    // FULL: each commit waits for the disk. fullfsync: without it macOS leaves the commit in the disk's own cache.
    db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    // 16 MiB. Otherwise a log that grew during a backup keeps its size until the last connection is closed.
    db.exec('PRAGMA journal_size_limit = 16777216');
    prepare(database);
    return database;
  } catch (error) {
    // Before the connection is closed, which frees a file.
    const failure = failureToOpen(error);
    if (db.isOpen) db.close();
    throw failure;
  }
}

/**
 * Connects to a file, and creates it if it doesn't exist.
 *
 * @throws StorageMisconfigured if it can't hold pets, or holds something else.
 */
export function openDatabase(path: string): Database {
  createFile(path);
  return connect(path, (database) => {
    prepareSchema(path, database);
    // With a write-ahead log, readers and a writer don't wait for each other.
    database.db.exec('PRAGMA journal_mode = WAL');
    tryLocking(database.db);
  });
}

/** Creates the tables in a file that has no mark, format and tables, in one transaction: of several processes one does it. */
function prepareSchema(path: string, database: Database): void {
  const { db, run } = database;
  db.exec('BEGIN');
  const header = 'SELECT *, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version';
  if (run([[header]])[0]?.every((value) => value === 0n)) db.exec(SCHEMA);
  else checkSchema(path, database);
  db.exec('COMMIT');
}

/**
 * Checks that a file has what this version works with. Other tables and indexes may be in it, too.
 *
 * @throws StorageMisconfigured
 */
export function checkSchema(path: string, { run }: Database): void {
  const [[owner, format] = []] = run([['SELECT * FROM pragma_application_id, pragma_user_version']]);
  if (Number(owner) !== APPLICATION_ID) throw unusable(path, FOREIGN);
  checkFormat(path, Number(format), FORMAT);
  const found = run([['SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL']]).map(([sql]) => canonical(String(sql)));
  for (const [sql, kind, name] of canonical(SCHEMA).matchAll(/CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)[^;]+/g)) {
    if (found.includes(sql)) continue;
    throw unusable(path, `its ${kind?.toLowerCase()} ${name} is missing, or was changed: it was made by ${sql}`);
  }
}

/** Whether a connection is to a file of ours. */
export const isOwn = (db: DatabaseSync): boolean =>
  Object.values(db.prepare('PRAGMA application_id').get() ?? {}).map(Number)[0] === APPLICATION_ID;

/** SQL that returns `ok`, or what is damaged. */
export const CHECK = 'PRAGMA integrity_check(1)';

/** The tables in which SQLite's check finds damage, those of virtual tables included, but not what these make of them. */
const DAMAGED_TABLES = `SELECT integrity_check FROM pragma_table_list AS list, pragma_integrity_check(list.name)
  WHERE list.schema = 'main' AND list.type IN ('table', 'shadow') AND integrity_check <> 'ok'`;

/**
 * Whether a file has all its bytes, and its pages, rows and indexes agree. SQLite reads bytes that are missing as zeros. A
 * virtual table of somebody else, such as a full-text index, may disagree with what it stores.
 */
export function isWhole(path: string, { run }: Database): boolean {
  const [[pages, size] = []] = run([['SELECT * FROM pragma_page_count, pragma_page_size']]);
  const isComplete = Number(pages) * Number(size) === statSync(path).size;
  if (!isComplete) return false;
  return run([[CHECK]])[0]?.[0] === 'ok' || run([[DAMAGED_TABLES]]).length === 0;
}

/** SQL in one line, without the quotes that ALTER TABLE … RENAME leaves in the stored statement. */
const canonical = (sql: string): string => sql.replaceAll('"', '').replace(/\s+/g, ' ').trim();

/** Throws SQLite's error if this user can't write the file. Another connection that is writing is no error. */
function tryLocking(db: DatabaseSync): void {
  try {
    // No pet has this id. SQLite takes the lock for writing first; BEGIN IMMEDIATE would succeed on a read-only file, too.
    db.exec('UPDATE pets SET created_at = 0 WHERE id = 0');
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
}
