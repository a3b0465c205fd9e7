import type pg from 'pg';

/** The names of the statements that a connection has prepared. If one fails, the pool closes the connection. */
const prepared = new WeakMap<pg.Connection, Map<string, string>>();

/** An execution of a statement. The driver's own query takes twice as long, because it asks for the columns each time. */
export class Statement implements pg.Submittable {
  readonly rows: unknown[][] = [];
  /** Set by the driver. */
  declare callback: (failure: Error | null, result?: Statement) => void;
  readonly query_timeout: number;
  readonly #text: string;
  readonly #values: (string | null)[];

  constructor(text: string, values: readonly unknown[], timeout: number) {
    this.query_timeout = timeout;
    this.#text = text;
    this.#values = values.map(textOf);
  }

  submit(connection: pg.Connection): void {
    const names = prepared.get(connection) ?? new Map<string, string>();
    const name = names.get(this.#text) ?? `animal_store_${names.size}`;
    connection.stream.cork();
    try {
      if (!names.has(this.#text)) connection.parse({ name, text: this.#text, types: [] }, true);
      connection.bind({ statement: name, values: this.#values }, true);
      connection.execute(null, true);
      connection.sync();
    } finally {
      // A stream that stays corked sends nothing more.
      connection.stream.uncork();
    }
    prepared.set(connection, names.set(this.#text, name));
  }

  handleDataRow({ fields }: { fields: unknown[] }): void {
    this.rows.push(fields);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this);
  }

  handleError(failure: Error): void {
    this.callback(failure);
  }
}

/** A value as the server reads it; null if there is none, as the driver does it. */
function textOf(value: unknown): string | null {
  if (!Array.isArray(value)) return value === null || value === undefined ? null : String(value);
  return `{${value.map((item) => (typeof item === 'string' ? `"${item.replace(/["\\]/g, '\\$&')}"` : (item ?? 'NULL'))).join()}}`;
}
