import { createHash } from 'node:crypto';
import type { Limits } from '@animal-store/adapter-kit';
import { CALL_HAS_ENDED } from './failures.ts';

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
 * @param limits Of its callers: the statement is not sent when they have given up.
 */
export type Query = <T>(statement: Statement, values: readonly unknown[], limits: Limits) => Promise<T>;

/** Every connection prepares a statement once. Its name is a hash, so that a name never stands for two texts. */
export function statement(text: string): Statement {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text };
}

/**
 * A column of statements that may change no row: a record in the log of the server. Without one their commit would not wait
 * for synchronous standbys, and acknowledge rows that only this server has, such as those of a crash before they confirmed.
 */
export const WAIT_FOR_STANDBYS = "pg_logical_emit_message(true, 'animal_store', '')";

/**
 * A condition of each statement of `write`, whose $1 is the deadline of its call on the clock of the server. It throws if a
 * network or a stopped server has held the statement back: its caller does not expect it any more. No setting has its name.
 */
export const IN_TIME = `CASE WHEN clock_timestamp() < to_timestamp($1) THEN true
  ELSE current_setting('${CALL_HAS_ENDED}') IS NULL END`;

/** The members of a record, all that `R` has, with their types in SQL. */
export type Columns<R = Record<string, unknown>> = Readonly<Record<keyof R & string, string>>;

/** The types of members, of which more is known. */
export const typesOf = <M extends Readonly<Record<string, { readonly type: string }>>>(members: M): Columns<M> =>
  Object.fromEntries(Object.entries(members).map(([name, { type }]) => [name, type])) as Columns<M>;

/** A statement for calls that were combined, each of which gives it a record. The form for one takes 30 µs less. */
export interface CombinedStatement {
  readonly columns: Columns;
  /** Its values are those of the record. Its result is that of the record. */
  readonly one: Statement;
  /** Its value is a JSON array of records. Its result is an array with that of each record, in their order. */
  readonly many: Statement;
}

/** The relation `given` in a statement for one record, and in one for many, which has `number`, too. */
interface Given {
  readonly one: string;
  /** It costs less than jsonb_to_recordset. */
  readonly many: string;
}

function given(columns: Columns, first: number, condition = ''): Given {
  const entries = Object.entries(columns);
  return {
    one: `(SELECT ${entries.map(([name, type], index) => `$${index + first}::${type} AS "${name}"`)} ${condition}) AS given`,
    many: `jsonb_array_elements($${first}) WITH ORDINALITY AS items (item, number), LATERAL
      (SELECT ${entries.map(([name, type]) => `(item ->> '${name}')::${type} AS "${name}"`)} ${condition}) AS given`,
  };
}

const readGiven = (columns: Columns): Given => given(columns, 1);
export const writeGiven = (columns: Columns): Given => given(columns, 2, `WHERE ${IN_TIME}`);

/**
 * Looks up a value for each record, such as `SELECT … WHERE id = given.id`.
 *
 * @param more Further columns. Nobody reads them.
 */
export const lookup = (
  columns: Columns,
  value: string,
  { one, many }: Given = readGiven(columns),
  ...more: readonly string[]
): CombinedStatement => ({
  columns,
  one: statement(`SELECT ${[`(${value})`, ...more]} FROM ${one}`),
  many: statement(`SELECT ${[`json_agg((${value}) ORDER BY number)`, ...more]} FROM ${many}`),
});

/** Runs a statement for one record or more. Returns their results, in their order. */
export async function resultsOf<R>(
  query: Query,
  { columns, one, many }: CombinedStatement,
  records: readonly object[],
  limits: Limits,
): Promise<readonly R[]> {
  if (records.length > 1) return query(many, [jsonOf(records)], limits);
  const [record] = records as readonly Readonly<Record<string, unknown>>[];
  const values = Object.keys(columns).map((name) => record?.[name]);
  return [await query<R>(one, values, limits)];
}

/** Records as JSON, which has no numbers of 64 bits: a bigint is a text. */
export function jsonOf(records: readonly object[]): string {
  return JSON.stringify(records, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
