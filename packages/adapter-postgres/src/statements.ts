import { createHash } from 'node:crypto';

/** A statement. Its result is the first column of its first row; null if it has no row. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs a statement as a transaction of its own. Returns its result as the driver decodes it. */
export type Query = <T>(statement: Statement, ...values: unknown[]) => Promise<T>;

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

/**
 * A statement that serves calls which were combined: each of them gives it a record. It has two forms, because that for one
 * record costs the server less. Those of a lookup by id:
 *
 *     one:  SELECT (SELECT … WHERE id = given.id) FROM (SELECT $1::bigint AS "id") AS given
 *     each: SELECT json_agg((SELECT … WHERE id = given.id) ORDER BY number) FROM … the records of $1 …
 */
export interface RecordStatement {
  readonly columns: Columns;
  /** Its result is that of the record. */
  readonly one: Statement;
  /** Its result is an array with that of each record, in their order. */
  readonly each: Statement;
}

/** One record, `given`: its values are $1, $2 … */
export const oneRecord = (columns: Columns): string =>
  `(SELECT ${Object.entries(columns).map(([name, type], index) => `$${index + 1}::${type} AS "${name}"`)}) AS given`;

/** The records of the JSON array $1: each is `given`, and has a `number`. It costs less than jsonb_to_recordset. */
export const eachRecord = (columns: Columns): string =>
  `jsonb_array_elements($1) WITH ORDINALITY AS items (item, number), LATERAL
  (SELECT ${Object.entries(columns).map(([name, type]) => `(item ->> '${name}')::${type} AS "${name}"`)}) AS given`;

/** A statement whose result for each record is a value. Nobody reads the columns of `more`. */
export const valueFor = (columns: Columns, value: string, ...more: string[]): RecordStatement => ({
  columns,
  one: statement(`SELECT ${[`(${value})`, ...more].join()} FROM ${oneRecord(columns)}`),
  each: statement(`SELECT ${[`json_agg((${value}) ORDER BY number)`, ...more].join()} FROM ${eachRecord(columns)}`),
});

/** Runs a statement for records, one or more. Returns their results, in their order. */
export async function resultsOf<R>(
  query: Query,
  { columns, one, each }: RecordStatement,
  records: readonly object[],
): Promise<readonly R[]> {
  const [record, ...more] = records as readonly Readonly<Record<string, unknown>>[];
  if (more.length > 0) return query(each, jsonOf(records));
  return [await query<R>(one, ...Object.keys(columns).map((name) => record?.[name]))];
}

/** Records as JSON, which has no numbers of 64 bits: a bigint is a text. */
export function jsonOf(records: readonly object[]): string {
  return JSON.stringify(records, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
