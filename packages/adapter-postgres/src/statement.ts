import { createHash } from 'node:crypto';

/** A statement. Its first column is the result. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Every connection prepares a statement once. Its name is a hash, so that a name never stands for two texts. */
export function statement(text: string): Statement {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text };
}

/**
 * A column of statements that may change no row: a record in the log of the server. Without one their commit would not wait
 * for synchronous standbys, and acknowledge rows that only this server has, such as those of a crash before they confirmed.
 */
export const LOGGED = "pg_logical_emit_message(true, 'animal_store', '')";
