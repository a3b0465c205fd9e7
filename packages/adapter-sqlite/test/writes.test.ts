import { readFileSync, statSync } from 'node:fs';
import { added, everyPage, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { ALL_PETS } from '@animal-store/domain/ports';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { placeOf } from '../src/file.ts';
import { createWriter, now, type Write } from '../src/writer.ts';
import { databaseAt, execute, storageAt } from './fixtures.ts';

const create = (name: string): Write => [
  ['INSERT INTO pets (name, category_id, created_at) VALUES (?, 7, 0) RETURNING id', name],
];

test('writes that arrive together share transactions', async () => {
  const { pets, location: file } = await storageAt();
  await Promise.all(Array.from({ length: 300 }, () => added(pets)));
  // A transaction of one row appends two pages to the log.
  const { log: pages } = databaseAt(file).prepare('PRAGMA wal_checkpoint').get() as { log: number };
  expect(pages).toBeLessThan(100);
});

test('the log becomes small again after a large transaction or a long backup', async () => {
  const { pets, location: file } = await storageAt();
  execute('CREATE TABLE filler AS SELECT zeroblob(40000000)')(file);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(40_000_000);
  await added(pets);
  expect(statSync(`${file}-wal`).size).toBeLessThanOrEqual(2 ** 24);
});

// tools/explorer has threads that end or hang.
test.each<[string, sql: string, failing: Write, reason: string, others: object]>([
  ['a missing table', '', [['SELECT * FROM missing']], 'no such table: missing', { errcode: 1 }],
  [
    'a trigger that rolls back',
    "CREATE TRIGGER own AFTER INSERT ON pets WHEN NEW.name = 'Bad' BEGIN SELECT raise(ROLLBACK, 'no Bad'); END",
    create('Bad'),
    'no Bad',
    { errcode: 516 },
  ],
  [
    'a constraint that rolls back',
    `CREATE TABLE own (name UNIQUE ON CONFLICT ROLLBACK); INSERT INTO own VALUES ('Bad');
     CREATE TRIGGER copied AFTER INSERT ON pets BEGIN INSERT INTO own VALUES (NEW.name); END`,
    create('Bad'),
    'UNIQUE constraint failed: own.name',
    { errcode: 516 },
  ],
])('a transaction commits nothing after %s, and the next one commits', async (_, sql, failing, message, others) => {
  const { location: file } = await storageAt();
  execute(sql)(file);
  const { commit, close } = createWriter(placeOf(file));
  onTestFinished(close);
  const deadline = now() + 60_000;
  const outcomes = await commit({ writes: [create('Rex'), failing, create('Max'), create('Tom')], deadline });
  expect(outcomes).toMatchObject([others, { message }, others, others]);
  expect(await commit({ writes: [create('Zoe')], deadline })).toMatchObject([[[expect.any(BigInt)]]]);
  expect(databaseAt(file, { returnArrays: true }).prepare('SELECT name FROM pets').all().flat()).toEqual(['Zoe']);
});

describe('a transaction whose callers have given up', () => {
  const namesAt = (file: string) => databaseAt(file).prepare('SELECT name FROM pets').all();

  test('is not begun, if the thread is not ready in time', async () => {
    const { location: file } = await storageAt();
    const { commit, close } = createWriter(placeOf(file));
    onTestFinished(close);
    const late = { name: 'TimeoutError', message: 'the thread was not ready in time' };
    expect(await commit({ writes: [create('Rex'), create('Max')], deadline: now() })).toEqual([late, late]);
    expect(namesAt(file)).toEqual([]);
  });

  test('is not begun when another process releases its lock later', async () => {
    const { location: file } = await storageAt();
    const { commit, close } = createWriter(placeOf(file));
    onTestFinished(close);
    const other = databaseAt(file);
    other.exec('BEGIN IMMEDIATE');
    const deadline = now() + 100;
    expect(await commit({ writes: [create('Rex')], deadline })).toMatchObject([{ errcode: 5 }]);
    expect(now() - deadline).toBeLessThan(1_000);
    other.exec('COMMIT');
    expect(namesAt(file)).toEqual([]);
  });

  test('is not begun by a process that was stopped while it waited for a lock', async () => {
    const { location: file } = await storageAt();
    const { commit, close } = createWriter(placeOf(file));
    onTestFinished(close);
    const other = databaseAt(file);
    other.exec('BEGIN IMMEDIATE');
    const deadline = now() + 100;
    const outcome = commit({ writes: [create('Rex')], deadline });
    while (now() < deadline);
    other.exec('COMMIT');
    expect(await outcome).toMatchObject([{ name: 'TimeoutError' }]);
    expect(namesAt(file)).toEqual([]);
  });
});

test('a creation succeeds although the clock of the system is set', async () => {
  const { pets } = await storageAt();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect((await added(pets)).id).toBe(1n);
});

test('a creation that cannot be sent to the thread throws a defect, and the next one succeeds', async () => {
  const { pets } = await storageAt();
  await expect(added(pets, rex({ name: (() => {}) as never }))).rejects.toMatchObject({ name: 'DataCloneError' });
  expect((await added(pets)).id).toBe(1n);
});

test('equal reads of one turn of the event loop read once', async () => {
  const { pets } = await storageAt();
  const [first, second] = [
    pets.list({ ...ALL_PETS, after: 0n, limit: 1 }),
    pets.list({ ...ALL_PETS, after: 0n, limit: 1 }),
  ];
  expect(await first).toBe(await second);
});

test('ids are in the order of the calls, and repeated idempotency keys use up none', async () => {
  const { pets } = await storageAt();
  const inOrder = Array.from({ length: 500 }, (_, index) => BigInt(index + 1));
  for (let count = 0; count < 2; count += 1) {
    const calls = inOrder.map((id) => added(pets, rex(), idempotencyOf(rex(), `line-${id}`)));
    expect((await Promise.all(calls)).map(({ id }) => id)).toEqual(inOrder);
  }
  expect((await added(pets)).id).toBe(501n);
});

test('ids are below 2^53, and a call beyond that throws a defect', async () => {
  const { pets, location: file } = await storageAt();
  await added(pets);
  databaseAt(file).exec('UPDATE sqlite_sequence SET seq = 9007199254740990');
  expect((await added(pets)).id).toBe(2n ** 53n - 1n);
  await expect(added(pets)).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 275 });
});

test('idempotency keys are removed by age with the statement of docs/storage-sqlite.md', async () => {
  const page = readFileSync(new URL('../../../docs/storage-sqlite.md', import.meta.url), 'utf8');
  const statement = /UPDATE pets SET idempotency_[^;]+;/.exec(page)?.[0] ?? '';
  const { pets, location: file } = await storageAt();
  const named = (key: string) => [rex(), idempotencyOf(rex(), key)] as const;
  const db = databaseAt(file);
  for (const key of ['old', 'new']) await added(pets, ...named(key));
  db.exec(`UPDATE pets SET created_at = created_at - ${30 * 86_400_000 + 60_000} WHERE idempotency_key = 'old'`);

  expect(db.prepare(statement).run().changes).toBe(1);
  expect((await pets.add(...named('new')))?.created).toBe(false);
  expect((await pets.add(...named('old')))?.created).toBe(true);
  expect(await everyPage(pets)).toHaveLength(3);
});
