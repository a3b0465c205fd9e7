import { BUDGET, type Limits, otherDatabase } from '@animal-store/adapter-kit';
import { checkFormat, StorageMisconfigured } from '@animal-store/domain/ports';
import type pg from 'pg';
import { API_KEY, columnsOf, declarationsOf, NEW_ROW } from './columns.ts';
import { AnotherDatabase, meaningOf, TOO_FEW_PRIVILEGES } from './failures.ts';
import type { Pools } from './pools.ts';
import { IN_TIME, statement } from './statements.ts';

/** The format that this version creates and works with, stored in the table animal_store (docs/releasing.md). */
export const FORMAT = 1;

/** Does nothing if the tables exist. If several processes find a new database, one creates them. */
const CREATE_TABLES = `DO $$ BEGIN
  -- Any number that no other program uses.
  PERFORM pg_advisory_xact_lock(4711000037);
  IF to_regclass('animal_store') IS NOT NULL THEN RETURN; END IF;

  CREATE TABLE pets (
    id bigint GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME pets_id_seq MAXVALUE 9007199254740991),
    ${declarationsOf(NEW_ROW)},
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
    ${declarationsOf(API_KEY)},
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

const INDEXES = Array.from(
  CREATE_TABLES.matchAll(/(?:INDEX|CONSTRAINT) (\w+) (?:ON|PRIMARY KEY|UNIQUE) /g),
  ([, name]) => name,
);

/** The columns that the statements need. */
const TABLES = {
  pets: ['id', ...columnsOf(NEW_ROW), 'created_at'].join(),
  api_keys: columnsOf(API_KEY).join(),
  animal_store: 'only_row,format,created_at',
};

/** The database to which the connections of this process lead. */
export interface Known {
  /** Tells this database from another one at the same address. */
  readonly id: string;
  /** The OID of each table, by which a renamed one is found. */
  readonly oids: Readonly<Record<keyof typeof TABLES, string>>;
}

interface State extends Known {
  readonly format: number;
  /** Lines about indexes; missing if nobody asks. */
  readonly errors?: readonly string[];
}

const stateWith = (...more: readonly string[]) => `SELECT json_build_object('format', format,
    'id', extract(epoch FROM created_at)::text,
    'oids', json_build_object(${Object.keys(TABLES).map((name) => `'${name}', '${name}'::regclass::oid::text`)})
    ${more.map((member) => `, ${member}`).join('')})
  FROM animal_store WHERE only_row`;

/** Fails if a table is missing. */
const IDENTITY = stateWith();

/** Fails if a column is missing, too, or if rows are hidden. */
const STATE = stateWith(
  `'errors', ARRAY(SELECT CASE WHEN to_regclass(name) IS NULL THEN
      'an index is missing: create ' || name || ' as in a new database' ELSE 'an index is invalid: REINDEX ' || name END
    FROM unnest('{${INDEXES}}'::text[]) AS name
    WHERE NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(name) AND indisvalid))`,
  ...Object.entries(TABLES).map(([name, columns]) => `'${name}', (SELECT num_nulls(${columns}) FROM ${name} LIMIT 0)`),
);

/** A read-only server rejects it, its commit waits for synchronous standbys, and processes don't wait for each other. */
const LOCK_STATE = statement(`${STATE} AND ${IN_TIME} FOR KEY SHARE`);

/** Lines about missing tables and columns, for the OIDs of the known tables; null if none is missing. */
const MISSING = statement(`SELECT string_agg(DISTINCT
    CASE WHEN to_regclass(expected.name) IS NOT NULL THEN 'the column ' || member || ' of ' || expected.name || ' is missing'
      ELSE 'the table ' || expected.name || coalesce(' is now ' || now.name, ' is missing') END
    || ': undo the change'
    || CASE WHEN to_regclass(expected.name) IS NULL AND now.name IS NULL THEN ', or restore a backup' ELSE '' END, '; ')
  FROM (VALUES ${Object.entries(TABLES).map(([name, columns]) => `('${name}', '{${columns}}'::name[])`)})
      AS expected (name, columns)
    CROSS JOIN unnest(columns) AS member
    LEFT JOIN LATERAL (SELECT nspname || '.' || relname || ', which search_path and the privileges must lead to' AS name
      FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE pg_class.oid = ($1::json ->> expected.name)::oid) AS now ON true
  WHERE NOT EXISTS (SELECT FROM pg_attribute
    WHERE attrelid = to_regclass(expected.name) AND attname = member AND NOT attisdropped)
    -- A new database lacks all of them.
    AND (to_regclass('animal_store') IS NOT NULL OR $1::json ->> 'animal_store' IS NOT NULL)`);

/**
 * Checks that the tables are those of the known database: a statement has failed as if they were not.
 *
 * @throws AnotherDatabase if a table or a column is missing.
 */
export async function checkTables(client: pg.ClientBase, known: Known | null): Promise<void> {
  const { text } = MISSING;
  const query = { text, values: [JSON.stringify(known?.oids ?? {})], query_timeout: BUDGET.rest } as const;
  const { rows } = await client.query<{ string_agg: string | null }>(query);
  const lines = rows[0]?.string_agg;
  if (lines) throw new AnotherDatabase(lines);
}

/** Throws StorageMisconfigured also if the role lacks a privilege that a service needs. Other programs may do with fewer. */
export async function checkReady({ read, write }: Pools, known: Known | null, limits: Limits): Promise<void> {
  const missing = await read<string | null>(MISSING_PRIVILEGES, [], limits);
  if (missing !== null) throw new StorageMisconfigured(`${TOO_FEW_PRIVILEGES}: it lacks ${missing}`);
  checkState(await write<State | null>(LOCK_STATE, [], limits), known);
}

/**
 * Returns the database.
 *
 * @param known The database that this process has used; null if it has used none.
 * @throws AnotherDatabase if it has lost its state, has another format, or is not the known one.
 * @throws StorageMisconfigured if it has lost an index.
 */
function checkState(state: State | null, known: Known | null): Known {
  if (state === null) throw new AnotherDatabase('the table animal_store has no row: restore that row from a backup');
  try {
    checkFormat('the database', state.format, FORMAT);
    if (known !== null && state.id !== known.id) throw otherDatabase();
  } catch (cause) {
    throw new AnotherDatabase((cause as Error).message, { cause });
  }
  if (state.errors?.length) throw new StorageMisconfigured(state.errors.join('; '));
  return state;
}

/**
 * Creates the tables, unless it is known to which database connections lead: then only that is checked, so that a connection
 * can replace another one. Returns the database.
 *
 * @throws AnotherDatabase if the database is not the known one, or has another format.
 */
export async function openSchema(client: pg.ClientBase, known: Known | null): Promise<Known> {
  // Several statements in one text are one transaction.
  const create = `SET LOCAL statement_timeout = ${BUDGET.connect}; ${CREATE_TABLES}; ${STATE}`;
  const query = { text: known === null ? create : IDENTITY, rowMode: 'array', query_timeout: BUDGET.connect } as const;
  try {
    const results = [await client.query(query)].flat();
    return checkState(results.at(-1)?.rows[0]?.[0] ?? null, known);
  } catch (failure) {
    if (meaningOf(failure).pools === 'checked') await checkTables(client, known);
    throw failure;
  }
}
