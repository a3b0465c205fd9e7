import type { DatabaseSync } from 'node:sqlite';

/** Marks a file as one of ours, for us and for file(1): "AnSt". */
const APPLICATION_ID = 0x416e5374;

/**
 * Each step makes a version of the schema from the one before it; `user_version` in the file counts them. A step that was
 * released never changes, not even with a limit of the domain: append another.
 */
const STEPS: readonly ((db: DatabaseSync) => void)[] = [
  (db) => db.exec(VERSION_1),
  (db) => replaceDefinitions(db, VERSION_2),
];

// Times are milliseconds since the epoch. Every index ends in the id.
// AUTOINCREMENT: an id is never assigned twice. Its upper limit is the largest integer that JavaScript reads exactly.
const VERSION_1 = `CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
    name TEXT NOT NULL CHECK (length(name) <= 200 AND octet_length(name) BETWEEN 1 AND 800),
    category_id INTEGER NOT NULL,
    status TEXT CHECK (status IN ('available', 'pending', 'sold')),
    addition_holder TEXT,
    addition_key TEXT CHECK (octet_length(addition_key) BETWEEN 1 AND 255),
    addition_fingerprint TEXT,
    CHECK ((addition_holder IS NULL) = (addition_key IS NULL)),
    CHECK ((addition_holder IS NULL) = (addition_fingerprint IS NULL))
  ) STRICT;

  CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;
  CREATE UNIQUE INDEX pets_by_addition ON pets (addition_holder, addition_key) WHERE addition_key IS NOT NULL;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY CHECK (id = substr(digest, 1, 16)),
    digest TEXT NOT NULL UNIQUE CHECK (octet_length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
    visible_prefix TEXT NOT NULL,
    holder TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX api_keys_by_age ON api_keys (created_at, id);

  PRAGMA application_id = ${APPLICATION_ID};`;

/**
 * Octets are counted by functions of SQLite 3.40 (octet_length is from 3.43), so that the `sqlite3` of Debian 12 can check and
 * repair a backup. length() of a text would end at a NUL, which a name may contain. Columns have the names of what they hold.
 */
const VERSION_2: Readonly<Record<string, Definition>> = {
  pets: {
    name: 'pets',
    sql: `CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
    name TEXT NOT NULL CHECK (length(name) <= 200 AND length(CAST(name AS BLOB)) BETWEEN 1 AND 800),
    category_id INTEGER NOT NULL,
    status TEXT CHECK (status IN ('available', 'pending', 'sold')),
    idempotency_holder TEXT,
    idempotency_key TEXT CHECK (length(CAST(idempotency_key AS BLOB)) BETWEEN 1 AND 255),
    idempotency_fingerprint TEXT,
    CHECK ((idempotency_holder IS NULL) = (idempotency_key IS NULL)),
    CHECK ((idempotency_holder IS NULL) = (idempotency_fingerprint IS NULL))
  ) STRICT`,
  },
  pets_by_addition: {
    name: 'pets_by_idempotency_key',
    sql: `CREATE UNIQUE INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)
    WHERE idempotency_key IS NOT NULL`,
  },
  api_keys: {
    name: 'api_keys',
    sql: `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY CHECK (id = substr(digest, 1, 16)),
    digest TEXT NOT NULL UNIQUE CHECK (length(CAST(digest AS BLOB)) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
    visible_prefix TEXT NOT NULL,
    holder TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  },
};

/** The name of a table or an index, and the statement that creates it. */
interface Definition {
  readonly name: string;
  readonly sql: string;
}

/**
 * Replaces definitions of tables and indexes, by their former names, without a change to what is stored: the time it takes
 * doesn't grow with the file (https://sqlite.org/lang_altertable.html, 8).
 */
function replaceDefinitions(db: DatabaseSync, definitions: Readonly<Record<string, Definition>>): void {
  db.enableDefensive(false);
  db.exec('PRAGMA writable_schema = ON');
  const replace = db.prepare('UPDATE sqlite_schema SET name = ?, sql = ? WHERE name = ?');
  for (const [formerName, { name, sql }] of Object.entries(definitions)) replace.run(name, sql, formerName);
  // Tells connections that have the former definitions in memory.
  db.exec(`PRAGMA schema_version = ${numberOf(db, 'PRAGMA schema_version') + 1}`);
  db.exec('PRAGMA writable_schema = RESET');
  db.enableDefensive(true);
}

/**
 * Brings a new or older file to the current schema, in one transaction: of several processes one does it.
 *
 * @throws Error if the file is another program's, or a newer version's.
 */
export function migrate(db: DatabaseSync): void {
  db.exec('BEGIN');
  try {
    const version = versionOf(db);
    for (const step of STEPS.slice(version)) step(db);
    if (version < STEPS.length) db.exec(`PRAGMA user_version = ${STEPS.length}`);
    db.exec('COMMIT');
  } catch (error) {
    // Some errors end the transaction.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function versionOf(db: DatabaseSync): number {
  const owner = numberOf(db, 'PRAGMA application_id');
  const version = numberOf(db, 'PRAGMA user_version');
  const isNew = owner === 0 && version === 0 && numberOf(db, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (owner !== APPLICATION_ID && !isNew) throw new Error('it is the database of another program');
  if (version > STEPS.length) {
    throw new Error(`its schema has version ${version}, of a newer Animal Store; this one knows ${STEPS.length}`);
  }
  return version;
}

/** The one number that a statement returns. */
function numberOf(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}
