import type { DatabaseSync } from 'node:sqlite';
import { UnusableFile } from './connection/errors.ts';

/** Marks a file as one of ours, for us and for file(1): "Anim". */
const APPLICATION_ID = 0x416e696d;

/** The format of a new file, stored as its `user_version` (docs/releasing.md). */
const FORMAT = 1;

/** The same as in `checkFormat` of the domain, which the writer thread can't import. */
const NEWEST_FORMAT = FORMAT + 1;

/**
 * Times are milliseconds since the epoch. Every index ends in the id. AUTOINCREMENT: an id is never assigned twice. Its upper
 * limit is the largest integer that JavaScript reads exactly. Octets are counted by functions of SQLite 3.40 (octet_length is
 * from 3.43), so that the `sqlite3` of Debian 12 can check and repair a backup. length() of a text would end at a NUL, which
 * a name may contain.
 */
const SCHEMA = `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
    name TEXT NOT NULL CHECK (length(name) <= 200 AND length(CAST(name AS BLOB)) BETWEEN 1 AND 800),
    category_id INTEGER NOT NULL,
    status TEXT CHECK (status IN ('available', 'pending', 'sold')),
    idempotency_holder TEXT,
    idempotency_key TEXT CHECK (length(CAST(idempotency_key AS BLOB)) BETWEEN 1 AND 255),
    idempotency_fingerprint TEXT,
    CHECK ((idempotency_holder IS NULL) = (idempotency_key IS NULL)),
    CHECK ((idempotency_holder IS NULL) = (idempotency_fingerprint IS NULL))
  ) STRICT;

  CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;
  CREATE UNIQUE INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY CHECK (id = substr(digest, 1, 16)),
    digest TEXT NOT NULL UNIQUE CHECK (length(CAST(digest AS BLOB)) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
    visible_prefix TEXT NOT NULL,
    holder TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX api_keys_by_age ON api_keys (created_at, id);

  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};`;

const FOREIGN =
  'it is the database of another program, or of a version of Animal Store that was never published: name another file';

const HEADER = `
  SELECT application_id AS owner,
    application_id = 0 AND user_version = 0 AND NOT EXISTS (SELECT * FROM sqlite_schema) AS isEmpty
  FROM pragma_application_id, pragma_user_version`;

/**
 * Creates the tables in a new file, in one transaction: of several processes one does it. After an error the connection must
 * be closed, which rolls back.
 *
 * @throws UnusableFile if the file is another program's, or has a format that this version can't work with.
 */
export function prepareSchema(db: DatabaseSync): void {
  db.exec('BEGIN');
  if (isNew(db)) db.exec(SCHEMA);
  else prepareFormatCheck(db)();
  db.exec('COMMIT');
}

/** @returns A check of the format, which a newer version may change at any time. It throws UnusableFile. */
export function prepareFormatCheck(db: DatabaseSync): () => void {
  const version = db.prepare('PRAGMA user_version');
  return () => {
    const { user_version: format } = version.get() as { user_version: number };
    if (format <= NEWEST_FORMAT) return;
    const newest = `this version of Animal Store works with formats up to ${NEWEST_FORMAT}`;
    throw new UnusableFile(`its format is ${format}, and ${newest}: start a newer version`);
  };
}

function isNew(db: DatabaseSync): boolean {
  const { owner, isEmpty } = db.prepare(HEADER).get() as { owner: number; isEmpty: number };
  if (owner === APPLICATION_ID) return false;
  if (!isEmpty) throw new UnusableFile(FOREIGN);
  return true;
}
