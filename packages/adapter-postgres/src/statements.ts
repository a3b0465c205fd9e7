import { createHash } from 'node:crypto';

/** A statement. Its result is the first column of its first row; null if it has no row. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** A shorter time limit than that of the connection, in milliseconds. */
  readonly query_timeout?: number;
}

/**
 * Runs a statement as a transaction of its own. Returns its result as the driver decodes it.
 *
 * @param deadline When the caller gives up, on the clock of `performance.now`: the statement is not sent later.
 */
export type Query = <T>(statement: Statement, values: readonly unknown[], deadline: number) => Promise<T>;

/** Every connection prepares a statement once. Its name is a hash, so that a name never stands for two texts. */
export function statement(text: string): Statement {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text };
}

/**
 * A column of statements that may change no row: a record in the log of the server. Without one their commit would not wait
 * for synchronous standbys, and acknowledge rows that only this server has, such as those of a crash before they confirmed.
 */
export const LOGGED = "pg_logical_emit_message(true, 'animal_store', '')";

/** The members of a record, all that `R` has, with their types in SQL. */
export type Columns<R = Record<string, unknown>> = Readonly<Record<keyof R & string, string>>;

/** A statement for calls that were combined, each of which gives it a record. The form for one takes 30 µs less. */
export interface CombinedStatement {
  readonly columns: Columns;
  /** For the record of the values $1, $2 … Its result is that of the record. */
  readonly one: Statement;
  /** For the records of the JSON array $1. Its result is an array with that of each record, in their order. */
  readonly many: Statement;
}

/** The relation `given` in statements for one record. */
export const givenOne = (columns: Columns): string =>
  `(SELECT ${Object.entries(columns).map(([name, type], index) => `$${index + 1}::${type} AS "${name}"`)}) AS given`;

/** The relation `given`, and `number`, in statements for many records. It costs less than jsonb_to_recordset. */
export const givenMany = (columns: Columns): string =>
  `jsonb_array_elements($1) WITH ORDINALITY AS items (item, number), LATERAL
  (SELECT ${Object.entries(columns).map(([name, type]) => `(item ->> '${name}')::${type} AS "${name}"`)}) AS given`;

/**
 * Looks up a value for each record, such as `SELECT … WHERE id = given.id`.
 *
 * @param more Further columns. Nobody reads them.
 */
export const lookup = (columns: Columns, value: string, ...more: readonly string[]): CombinedStatement => ({
  columns,
  one: statement(`SELECT ${[`(${value})`, ...more]} FROM ${givenOne(columns)}`),
  many: statement(`SELECT ${[`json_agg((${value}) ORDER BY number)`, ...more]} FROM ${givenMany(columns)}`),
});

/** Runs a statement for one record or more. Returns their results, in their order. */
export async function resultsOf<R>(
  query: Query,
  { columns, one, many }: CombinedStatement,
  records: readonly object[],
  deadline: number,
): Promise<readonly R[]> {
  if (records.length > 1) return query(many, [jsonOf(records)], deadline);
  const [record] = records as readonly Readonly<Record<string, unknown>>[];
  const values = Object.keys(columns).map((name) => record?.[name]);
  return [await query<R>(one, values, deadline)];
}

/** Records as JSON, which has no numbers of 64 bits: a bigint is a text. */
export function jsonOf(records: readonly object[]): string {
  return JSON.stringify(records, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
