import { DatabaseSync } from 'node:sqlite';
import { storageContract } from '@animal-store/adapter-contract';
import { createSqliteStorage } from '../src/index.ts';
import { freshFile } from './fresh-file.ts';

/** Connections of another program that keep a file locked for writing. */
const locks = new Map<string, DatabaseSync>();

storageContract('sqlite', {
  freshPlace: freshFile,
  open: (file) => createSqliteStorage({ file }),
  interrupt(file) {
    const lock = new DatabaseSync(file);
    lock.exec('BEGIN IMMEDIATE');
    locks.set(file, lock);
  },
  restore(file) {
    locks.get(file)?.close();
    locks.delete(file);
  },
});
