import { BUDGET, otherDatabase } from '@animal-store/adapter-kit';
import { checkFormat, StorageMisconfigured } from '@animal-store/domain/ports';
import type pg from 'pg';
import { TOO_FEW_PRIVILEGES } from './failures.ts';
import type { Pools } from './pools.ts';
import { statement } from './statements.ts';

/** The format that this version creates and works with, stored in the table animal_store (docs/releasing.md). */
const FORMAT = 1;

/**
 * Does nothing if the tables exist. If several processes find a new database, one creates them. The collation "C" compares
 * bytes: no update of the operating system changes an index.
 */
const CREATE_TABLES = `DO $$ BEGIN
  -- Any number that no other program uses.
  PERFORM pg_advisory_xact_lock(4711000037);
  IF to_regclass('animal_store') IS NOT NULL THEN RETURN; END IF;

  CREATE TABLE pets (
    id bigint GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME pets_id_seq MAXVALUE 9007199254740991),
    name text COLLATE "C" NOT NULL,
    category_id bigint NOT NULL,
    status text COLLATE "C",
    idempotency_holder text COLLATE "C",
    idempotency_key text COLLATE "C",
    idempotency_fingerprint text COLLATE "C",
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pets_pkey PRIMARY KEY (id),
    CONSTRAINT pets_id_in_range CHECK (id BETWEEN 1 AND 9007199254740991),
    CONSTRAINT pets_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT pets_known_status CHECK (status IN ('available', 'pending', 'sold')),
    CONSTRAINT pets_idempotency_key_length CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
    CONSTRAINT pets_idempotency_key_complete
      CHECK (num_nulls(idempotency_holder, idempotency_key, idempotency_fingerprint) IN (0, 3))
  );
  CREATE INDEX pets_by_status ON pets (status, id) WHERE status IS NOT NULL;
  CREATE UNIQUE INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
  COMMENT ON TABLE pets IS 'The animals of Animal Store.';
  COMMENT ON COLUMN pets.id IS 'Ascending, with gaps.';
  COMMENT ON COLUMN pets.idempotency_holder IS 'The holder of the API key that created the pet.';
  COMMENT ON COLUMN pets.idempotency_key IS 'Unique for each holder: a repeated creation returns this pet.';
  COMMENT ON COLUMN pets.idempotency_fingerprint IS 'What the creation asked for: another pet under the key is a conflict.';
  COMMENT ON COLUMN pets.created_at IS 'For removing idempotency keys by age. The service never reads it.';

  CREATE TABLE api_keys (
    id text COLLATE "C",
    digest text COLLATE "C" NOT NULL,
    visible_prefix text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_digest_key UNIQUE (digest),
    CONSTRAINT api_keys_digest_form CHECK (digest ~ '^[0-9a-f]{64}$'),
    CONSTRAINT api_keys_id_of_digest CHECK (id = left(digest, 16))
  );
  COMMENT ON TABLE api_keys IS 'The API keys, but only their digests.';
  COMMENT ON COLUMN api_keys.digest IS 'SHA-256, in hexadecimal digits.';
  COMMENT ON COLUMN api_keys.visible_prefix IS 'The begin of the key, by which its holder recognizes it.';
  COMMENT ON COLUMN api_keys.last_used_at IS 'Written once a minute at most.';

  CREATE TABLE animal_store (
    only_row boolean DEFAULT true,
    format integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT animal_store_pkey PRIMARY KEY (only_row),
    CONSTRAINT animal_store_one_row CHECK (only_row)
  );
  COMMENT ON TABLE animal_store IS 'One row, about the tables of Animal Store.';
  COMMENT ON COLUMN animal_store.format IS 'Versions of Animal Store with another format reject the database.';
  COMMENT ON COLUMN animal_store.created_at IS 'Tells this database from another one at the same address.';
  INSERT INTO animal_store (format) VALUES (${FORMAT});
  -- A line in the log of the server.
  RAISE LOG 'Animal Store created its tables in the schema %', current_schema();
END $$`;

/** Privileges without which a service can't work, beside those of reading. Moving pets needs more. */
const MISSING_PRIVILEGES = statement(`SELECT string_agg(name, ', ') FROM (VALUES
  ('INSERT on pets', has_table_privilege('pets', 'INSERT')),
  ('USAGE on pets_id_seq', has_sequence_privilege('pets_id_seq', 'USAGE')),
  ('UPDATE on api_keys', has_table_privilege('api_keys', 'UPDATE')),
  ('UPDATE on animal_store', has_table_privilege('animal_store', 'UPDATE'))
) AS privileges (name, granted) WHERE NOT granted`);

const INDEXES = '{pets_pkey,pets_by_status,pets_by_idempotency_key,api_keys_pkey,api_keys_digest_key}';

/** Fails if a table or a column is missing, or if rows are hidden. */
const STATE = `SELECT json_build_object('format', format, 'id', extract(epoch FROM created_at)::text,
    'errors', ARRAY(SELECT 'an index is missing: create ' || name || ' as in a new database'
      FROM unnest('${INDEXES}'::text[]) AS name
      WHERE NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(name) AND indisvalid)),
    'pets', (SELECT num_nulls(id, name, category_id, status, created_at, idempotency_holder, idempotency_key,
      idempotency_fingerprint) FROM pets LIMIT 0),
    'keys', (SELECT num_nulls(id, digest, visible_prefix, holder, created_at, expires_at, revoked_at, last_used_at)
      FROM api_keys LIMIT 0))
  FROM animal_store WHERE only_row`;

interface State {
  readonly format: number;
  /** Tells this database from another one at the same address. */
  readonly id: string;
  /** Lines about missing indexes. */
  readonly errors: readonly string[];
}

/** A read-only server rejects it, its commit waits for synchronous standbys, and processes don't wait for each other. */
const LOCK_STATE = statement(`${STATE} FOR KEY SHARE`);

/** Throws StorageMisconfigured also if the role lacks a privilege that a service needs. Other programs may do with fewer. */
export async function checkReady({ read, write }: Pools, known: string | null, deadline: number): Promise<void> {
  const missing = await read<string | null>(MISSING_PRIVILEGES, [], deadline);
  if (missing !== null) throw new StorageMisconfigured(`${TOO_FEW_PRIVILEGES}: it lacks ${missing}`);
  checkState(await write<State | null>(LOCK_STATE, [], deadline), known);
}

/**
 * Returns the id of the database.
 *
 * @param known The id of the database that this process has used; null if it has used none.
 * @throws StorageMisconfigured if the database has lost its state or an index, has another format, or is not the known one.
 */
function checkState(state: State | null, known: string | null): string {
  if (state === null) throw new StorageMisconfigured('the table animal_store has no row: restore the database');
  checkFormat('the database', state.format, FORMAT);
  if (known !== null && state.id !== known) throw otherDatabase();
  if (state.errors.length > 0) throw new StorageMisconfigured(state.errors.join('; '));
  return state.id;
}

/**
 * Creates the tables, unless it is known to which database connections lead. Returns the id of the database.
 *
 * @throws StorageMisconfigured if the database is not the known one, or has another format.
 */
export async function openSchema(client: pg.ClientBase, known: string | null): Promise<string> {
  // Several statements in one text are one transaction.
  const create = `SET LOCAL statement_timeout = ${BUDGET.connect}; ${CREATE_TABLES}; ${STATE}`;
  const query = { text: known === null ? create : STATE, rowMode: 'array', query_timeout: BUDGET.connect } as const;
  const results = [await client.query(query)].flat();
  return checkState(results.at(-1)?.rows[0]?.[0] ?? null, known);
}
