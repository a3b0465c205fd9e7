import type { DatabaseSync } from 'node:sqlite';
import { isEnvironmental } from '../database/result-codes.ts';
import { prepareFormatCheck } from '../database/schema.ts';
import { prepareWrites, type Write } from './writes.ts';

/** The outcome of a transaction: the result of each write, or the error of a write that failed alone. */
export interface Committed {
  readonly results: readonly unknown[];
  /** By the index of the write. Such a write has changed nothing; the others are committed. */
  readonly errors: ReadonlyMap<number, unknown>;
}

/** Runs writes, in their order, as one transaction. If it throws, none of them has changed anything. */
export type Transaction = (writes: readonly Write[]) => Committed;

/** @param beforeCommit Called before each commit; what it throws prevents the commit. */
export function prepareTransaction(db: DatabaseSync, beforeCommit: () => void): Transaction {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const checkFormat = prepareFormatCheck(db);
  checkFormat();
  const all = prepareWrites(db);

  return (writes) => {
    begin.run();
    try {
      checkFormat();
      const errors = new Map<number, unknown>();
      const results = writes.map(([name, ...args], index) => {
        try {
          return (all[name] as (...args: unknown[]) => unknown)(...args);
        } catch (error) {
          // After some failures SQLite has rolled back the transaction, not only the statement.
          if (isEnvironmental(error) || !db.isTransaction) throw error;
          errors.set(index, error);
          return null;
        }
      });
      beforeCommit();
      commit.run();
      return { results, errors };
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}
