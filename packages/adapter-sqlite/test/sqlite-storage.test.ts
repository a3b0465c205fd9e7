import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { archiveContract, type StorageUnderTest, storageContract } from '@animal-store/adapter-contract';
import { createSqliteStorage } from '../src/index.ts';
import { databaseAt, freshFile } from './fixtures.ts';

/** Connections of another program that keep a file locked for writing. */
const locks = new Map<string, DatabaseSync>();

/** Moves a file, and what SQLite keeps beside it. */
function moveFiles(from: string, to: string): void {
  for (const end of ['', '-wal', '-shm']) renameSync(`${from}${end}`, `${to}${end}`);
}

function setFormat(file: string, format: number): void {
  const db = databaseAt(file);
  db.exec(`PRAGMA user_version = ${format}`);
  db.close();
}

const adapter: StorageUnderTest<string> = {
  freshPlace: freshFile,
  open: (file) => createSqliteStorage({ file }),
  outages: {
    'locked by another program': {
      begin(file) {
        const lock = new DatabaseSync(file, { timeout: 5_000 });
        lock.exec('BEGIN IMMEDIATE');
        locks.set(file, lock);
      },
      end(file) {
        locks.get(file)?.close();
        locks.delete(file);
      },
    },
  },
  losses: {
    moved: {
      begin: (file) => moveFiles(file, `${file}.away`),
      end: (file) => moveFiles(`${file}.away`, file),
    },
  },
  misconfiguredPlaces: () => [dirname(freshFile())],
  laterFormat: {
    begin: (file) => setFormat(file, 1_000),
    end: (file) => setFormat(file, 1),
  },
};

storageContract('sqlite', adapter);
archiveContract('sqlite', adapter);
