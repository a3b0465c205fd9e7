import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { UnusableFile } from '../connection/errors.ts';
import { prepareSchema } from '../schema.ts';
import { prepareTransaction, type Write } from './transaction.ts';

function database() {
  const db = new DatabaseSync(':memory:');
  onTestFinished(() => db.close());
  prepareSchema(db);
  const names = () =>
    db
      .prepare('SELECT name FROM pets ORDER BY id')
      .all()
      .map((row) => row['name']);
  return { db, transaction: prepareTransaction(db, () => {}), names };
}

const create = (name: string, key: string | null = null): Write => {
  const [holder, fingerprint] = key === null ? [null, null] : ['the zoo', `of ${name}`];
  return ['createPet', name, 7n, null, holder, key, fingerprint];
};

test('commits writes in their order, with the result or the error of each', () => {
  const { db, transaction, names } = database();
  const { results, errors } = transaction([create('Rex'), ['tryCreating'], create(''), create('Max')]);
  expect(results).toEqual([{ id: 1, created: true }, undefined, null, { id: 2, created: true }]);
  expect([...errors]).toEqual([[2, expect.objectContaining({ code: 'ERR_SQLITE_ERROR', errcode: 275 })]]);
  expect(names()).toEqual(['Rex', 'Max']);
  expect(db.isTransaction).toBe(false);
});

test('uses up no id for a repeated idempotency key, nor for a write that failed', () => {
  const { transaction } = database();
  transaction([create('Rex', 'k1')]);
  const { results } = transaction([create('Rex', 'k1'), create('Max', 'k1'), create(''), create('Max', 'k2')]);
  expect(results).toEqual([{ id: 1, created: false }, null, null, { id: 2, created: true }]);
});

test('commits nothing if an operation of the system fails, or if it must not commit', () => {
  const { db, transaction, names } = database();
  const failure = Object.assign(new Error('no'), { code: 'EIO' });
  const fail = () => {
    throw failure;
  };
  db.function('fail', fail);
  db.exec("CREATE TEMP TRIGGER t BEFORE INSERT ON pets WHEN NEW.name = 'Rex' BEGIN SELECT fail(); END");
  for (const write of [create('Rex'), ['tryCreating'] as const]) {
    expect(() => transaction([create('Max'), write, create('Max')])).toThrow(failure);
  }
  expect(() => prepareTransaction(db, fail)([create('Max')])).toThrow(failure);
  expect(names()).toEqual([]);
  expect(db.isTransaction).toBe(false);
});

test('commits nothing once a newer version has changed the format', () => {
  const { db, transaction, names } = database();
  db.exec('PRAGMA user_version = 1000');
  expect(() => transaction([create('Rex')])).toThrow(UnusableFile);
  expect(() => prepareTransaction(db, () => {})).toThrow(UnusableFile);
  expect(names()).toEqual([]);
});

test('commits nothing if the disk is full, and can write again when it is not', () => {
  const { db, transaction, names } = database();
  transaction([create('Rex')]);
  const { page_count: pages } = db.prepare('PRAGMA page_count').get() as { page_count: number };
  db.exec(`PRAGMA max_page_count = ${pages}`);
  const full = expect.objectContaining({ errcode: 13 });
  expect(() => transaction(Array.from({ length: 1_000 }, (_, index) => create(`Max ${index}`)))).toThrow(full);
  expect(db.isTransaction).toBe(false);
  expect(names()).toEqual(['Rex']);
  db.exec('PRAGMA max_page_count = 1000');
  transaction([create('Max')]);
  expect(names()).toEqual(['Rex', 'Max']);
});
