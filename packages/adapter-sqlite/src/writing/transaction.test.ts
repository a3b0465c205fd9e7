import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
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
  const fingerprint = key === null ? null : `of ${name}`;
  return ['createPet', name, 7n, null, key === null ? null : 'the zoo', key, fingerprint];
};

const created = (id: number) => ({ id, created: true });
const repeated = (id: number) => ({ id, created: false });

const violated = expect.objectContaining({ code: 'ERR_SQLITE_ERROR', errcode: 275 });

test('commits writes in their order, and returns the result of each', () => {
  const { db, transaction, names } = database();
  const { results, errors } = transaction([create('Rex'), ['tryCreating'], create('Max')]);
  expect(results).toEqual([created(1), undefined, created(2)]);
  expect(errors.size).toBe(0);
  expect(names()).toEqual(['Rex', 'Max']);
  expect(db.isTransaction).toBe(false);
});

test('creates one pet for an idempotency key, within a transaction and across transactions', () => {
  const { transaction, names } = database();
  const { results } = transaction([create('Rex', 'k'), create('Rex', 'k'), create('Max', 'k')]);
  expect(results).toEqual([created(1), repeated(1), null]);
  expect(transaction([create('Max', 'k'), create('Rex', 'k')]).results).toEqual([null, repeated(1)]);
  expect(names()).toEqual(['Rex']);
});

test('uses up no id for a repeated idempotency key, nor for a write that failed', () => {
  const { transaction } = database();
  const lines = Array.from({ length: 1_000 }, (_, line) => create('Rex', `line ${line}`));
  transaction(lines);
  expect(transaction([...lines, create('Max', 'line 7'), create('')]).results.slice(999)).toEqual([
    repeated(1_000),
    null,
    null,
  ]);
  expect(transaction([create('Max'), create('Max', 'another')]).results).toEqual([created(1_001), created(1_002)]);
});

test('reports the error of a write that violates a constraint, and commits the others', () => {
  const { transaction, names } = database();
  const { results, errors } = transaction([create('Rex'), create(''), create('Max')]);
  expect([...errors]).toEqual([[1, violated]]);
  expect([results[0], results[2]]).toEqual([created(1), created(2)]);
  expect(names()).toEqual(['Rex', 'Max']);
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
