import type { DatabaseSync } from 'node:sqlite';

/** Marks a file as one of ours, for us and for file(1): "AnSt". */
const APPLICATION_ID = 0x416e5374;

/**
 * What makes each version of the schema of the one before it. `user_version` in the file counts the steps it has seen.
 * They are history: a step that was released never changes, not even with a constant of the domain. Append another.
 */
const STEPS: readonly string[] = [
  // AUTOINCREMENT: an id is never assigned twice. What JavaScript reads exactly ends below 2^53.
  // length() ends at a character NUL, which a name may contain: octet_length() does not.
  `CREATE TABLE pets (
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

  -- Every index ends in the id.
  CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;
  CREATE UNIQUE INDEX pets_by_addition ON pets (addition_holder, addition_key) WHERE addition_key IS NOT NULL;

  -- Times are milliseconds since the epoch.
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

  PRAGMA application_id = ${APPLICATION_ID};`,
];

/**
 * Brings a new or older file to the present schema, in one transaction: of several processes one does it.
 *
 * @throws Error where the file is another program's, or a newer version's.
 */
export function migrate(db: DatabaseSync): void {
  db.exec('BEGIN');
  try {
    const version = versionOf(db);
    for (const step of STEPS.slice(version)) db.exec(step);
    if (version < STEPS.length) db.exec(`PRAGMA user_version = ${STEPS.length}`);
    db.exec('COMMIT');
  } catch (failure) {
    // Some failures have ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw failure;
  }
}

function versionOf(db: DatabaseSync): number {
  const number = (sql: string) => Number(Object.values(db.prepare(sql).get() ?? {})[0]);
  const owner = number('PRAGMA application_id');
  const version = number('PRAGMA user_version');
  const isNew = owner === 0 && version === 0 && number('SELECT count(*) FROM sqlite_schema') === 0;
  if (owner !== APPLICATION_ID && !isNew) throw new Error('it is the database of another program');
  if (version > STEPS.length) {
    throw new Error(`its schema has version ${version}, of a newer Animal Store; this one knows ${STEPS.length}`);
  }
  return version;
}
