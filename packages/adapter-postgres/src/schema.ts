import { checkFormat } from '@animal-store/domain/ports';
import type { Query } from './connection/connection.ts';

/** The format that this version creates, stored in the table animal_store (docs/releasing.md). */
const FORMAT = 1;

/**
 * Does nothing if the tables exist. If several processes find a new database, one creates them. Times are milliseconds since
 * the epoch. The collation "C" compares bytes: no update of the operating system changes an index. A name has up to 200
 * characters, each of which an escape may double.
 *
 * @public The list of published names compares it.
 */
export const CREATE_TABLES = `DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('animal_store'));
  IF to_regclass('animal_store') IS NOT NULL THEN RETURN; END IF;

  CREATE TABLE pets (
    id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND 9007199254740991),
    name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 400),
    category_id bigint NOT NULL,
    status text COLLATE "C" CHECK (status IN ('available', 'pending', 'sold')),
    idempotency_holder text COLLATE "C",
    idempotency_key text COLLATE "C" CHECK (char_length(idempotency_key) BETWEEN 1 AND 510),
    idempotency_fingerprint text COLLATE "C",
    CHECK (num_nulls(idempotency_holder, idempotency_key, idempotency_fingerprint) IN (0, 3))
  );
  CREATE INDEX pets_by_status ON pets (status, id) WHERE status IS NOT NULL;
  CREATE UNIQUE INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

  CREATE TABLE api_keys (
    id text COLLATE "C" PRIMARY KEY CHECK (id = left(digest, 16)),
    digest text COLLATE "C" NOT NULL UNIQUE CHECK (digest ~ '^[0-9a-f]{64}$'),
    visible_prefix text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint
  );
  CREATE INDEX api_keys_by_age ON api_keys (created_at, id);

  CREATE TABLE animal_store (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    format integer NOT NULL,
    last_pet_id bigint NOT NULL CHECK (last_pet_id BETWEEN 0 AND 9007199254740991)
  );
  INSERT INTO animal_store (format, last_pet_id) VALUES (${FORMAT}, 0);
END $$`;

export const SCHEMA_SQL = {
  format: 'SELECT format FROM animal_store WHERE only_row',
  /** A read-only server rejects it. */
  lockFormat: 'SELECT format FROM animal_store WHERE only_row FOR NO KEY UPDATE',
} as const;

/**
 * Creates the tables in a new database.
 *
 * @throws StorageMisconfigured if they have a format that this version can't work with.
 */
export async function prepareSchema(query: Query): Promise<void> {
  await query(CREATE_TABLES);
  check(await query<[string]>(SCHEMA_SQL.format));
}

/** Succeeds if the database can be written, and no newer version has changed its format too far. */
export async function checkWritable(query: Query): Promise<void> {
  check(await query<[string]>(SCHEMA_SQL.lockFormat));
}

function check([row]: readonly [format: string][]): void {
  checkFormat('the database', Number(row?.[0]), FORMAT);
}
