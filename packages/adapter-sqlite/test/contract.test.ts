import { copyFileSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  archiveContract,
  type Interruptions,
  type StorageUnderTest,
  storageContract,
} from '@animal-store/adapter-contract';
import { createSqliteStorage } from '../src/index.ts';
import { FORMAT } from '../src/schema.ts';
import { execute, freshFile } from './fixtures.ts';

/** Connections of another program that keep a file locked for writing. */
const locks = new Map<string, DatabaseSync>();

/** Another program changes a file by SQL, and then undoes that. */
const changed = (sql: string, undo: string, line: RegExp) => ({
  ...({ leaves: 'nothing', line } as const),
  ...{ begin: execute(sql), end: execute(undo) },
});

/** Some of the parts of a database are moved away, and perhaps copies are put in their place. */
function moved(parts: readonly string[], hasCopies = false) {
  return {
    begin(file: string) {
      for (const part of parts) renameSync(file + part, `${file}.away${part}`);
      if (hasCopies) for (const part of parts) copyFileSync(`${file}.away${part}`, file + part);
    },
    end(file: string) {
      for (const part of parts) renameSync(`${file}.away${part}`, file + part);
    },
    leaves: 'nothing' as const,
    line: /animals\.db cannot be used: it or its log was deleted or replaced while it was open: [^\n]+$/,
  };
}

const movedAway = moved(['', '-wal', '-shm']);

const KEYS_INDEX = 'INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)';
const DROP_KEYS = 'DROP INDEX pets_by_idempotency_key';

const interruptions: Interruptions<string> = {
  'locked by another program': {
    leaves: 'reads',
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
  'a later format': {
    leaves: 'open storages',
    begin: execute(`PRAGMA user_version = ${FORMAT + 1}`),
    end: execute(`PRAGMA user_version = ${FORMAT}`),
  },
  'a database that is moved': movedAway,
  'a database that is dropped and created anew, empty': {
    ...movedAway,
    async begin(file) {
      movedAway.begin(file);
      await (await createSqliteStorage({ file })).close();
    },
  },
  'a file that is moved without its log': moved(['']),
  'a file that is replaced by a copy': moved([''], true),
  'a log that is moved': moved(['-wal']),
  'a log that is replaced by a copy': moved(['-wal'], true),
  "a log's index that is moved": moved(['-shm']),
  'a format that is raised': changed(
    `PRAGMA user_version = ${FORMAT + 1}`,
    `PRAGMA user_version = ${FORMAT}`,
    /animals\.db has format \d+, and this version of Animal Store works with format \d+: start a newer version$/,
  ),
  'a mark of another program': changed(
    'PRAGMA application_id = 7',
    'PRAGMA application_id = 0x416e696d',
    /animals\.db cannot be used: it is the database of another program/,
  ),
  'an index of idempotency keys that is no longer unique': changed(
    `${DROP_KEYS}; CREATE ${KEYS_INDEX}`,
    `${DROP_KEYS}; CREATE UNIQUE ${KEYS_INDEX} WHERE idempotency_key IS NOT NULL`,
    /its index pets_by_idempotency_key is missing, or was changed: it was made by CREATE UNIQUE INDEX \S[^\n]*$/,
  ),
  'an index that is dropped': changed(
    'DROP INDEX pets_by_status',
    'CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL',
    /its index pets_by_status is missing/,
  ),
  'another table in the place of the pets': changed(
    'ALTER TABLE pets RENAME TO animals; CREATE TABLE pets AS SELECT * FROM animals',
    'DROP TABLE pets; ALTER TABLE animals RENAME TO pets',
    /its table pets is missing, or was changed: it was made by CREATE TABLE \S[^\n]*$/,
  ),
};

const adapter: StorageUnderTest<string> = {
  freshPlace: freshFile,
  open: (file) => createSqliteStorage({ file }),
  interruptions,
  inAnotherProcess: (file) => ({
    module: new URL('../src/index.ts', import.meta.url).href,
    name: 'createSqliteStorage',
    options: { file },
    flags: ['--conditions=@animal-store/source'],
  }),
  operator: {
    deletePet: (file, id) => execute(`DELETE FROM pets WHERE id = ${id}`)(file),
    setCounterBack: execute('DELETE FROM sqlite_sequence'),
  },
  misconfiguredPlaces: (file) => [dirname(file), `${file}/animals.db`, `${file}.missing/animals.db`],
  twin: () => freshFile(),
};

storageContract('sqlite', adapter);
archiveContract('sqlite', adapter);
