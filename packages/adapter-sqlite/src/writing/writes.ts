import type { DatabaseSync } from 'node:sqlite';
import { TRY_WRITING } from '../database/open-database.ts';
import { type KeyWrites, prepareKeyWrites } from '../keys/key-statements.ts';
import { type PetWrites, preparePetWrites } from '../pets/pet-statements.ts';

/** Everything that is written on one connection. */
export interface Writes extends PetWrites, KeyWrites {
  /** @throws Error of SQLite if the file can't be written now. */
  tryWriting(): void;
}

export function prepareWrites(db: DatabaseSync): Writes {
  const tryWriting = db.prepare(TRY_WRITING);
  return {
    ...preparePetWrites(db),
    ...prepareKeyWrites(db),
    tryWriting: () => void tryWriting.run(),
  };
}

/** One write as data: its name and its arguments. */
export type Write = { [Name in keyof Writes]: readonly [Name, ...Parameters<Writes[Name]>] }[keyof Writes];
