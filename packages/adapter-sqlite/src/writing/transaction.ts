import type { DatabaseSync } from 'node:sqlite';
import { isEnvironmental } from '../connection/errors.ts';
import { prepareKeyWrites } from '../keys/key-statements.ts';
import { preparePetWrites } from '../pets/pet-statements.ts';
import { prepareFormatCheck } from '../schema.ts';

/** Everything that is written on one connection. */
export type Writes = ReturnType<typeof prepareWrites>;

/** One write as data: its name and its arguments. */
export type Write = { [Name in keyof Writes]: readonly [Name, ...Parameters<Writes[Name]>] }[keyof Writes];

/** The outcome of a transaction: the result of each write, or the error of a write that failed alone. */
export interface Committed<E = unknown> {
  readonly results: readonly unknown[];
  /** By the index of the write. Such a write has changed nothing; the others are committed. */
  readonly errors: ReadonlyMap<number, E>;
}

/** Runs writes, in their order, as one transaction. If it throws, none of them has changed anything. */
export type Transaction = (writes: readonly Write[]) => Committed;

/**
 * @param beforeCommit Called before each commit; what it throws prevents the commit.
 * @throws UnusableFile, now and later, if a newer version has changed the format too far.
 */
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

function prepareWrites(db: DatabaseSync) {
  const petWrites = preparePetWrites(db);
  return {
    ...petWrites,
    ...prepareKeyWrites(db),

    /** Creates and deletes a pet in one transaction, which writes the changed pages to the disk as they were. */
    tryCreating(): void {
      db.exec('SAVEPOINT attempt');
      // No client's key has a space. It changes every table and index that a creation changes.
      petWrites.createPet('Rex', 0n, 'available', '', ' ', '');
      db.exec('ROLLBACK TO attempt; RELEASE attempt');
    },
  };
}
