import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { freshFile } from '../test/fresh-file.ts';
import { startProcess } from '../test/processes.ts';
import { createSqliteStorage } from './index.ts';

/** The idempotency keys that are stored, each with its animal's id. */
function storedAdditions(file: string): (readonly [string, bigint])[] {
  const db = new DatabaseSync(file, { readBigInts: true });
  onTestFinished(() => db.close());
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  const rows = db.prepare('SELECT addition_key AS key, id FROM pets ORDER BY id').all();
  return rows.map(({ key, id }) => [String(key), id as bigint]);
}

test('what was acknowledged survives kill -9, each idempotency key once', async () => {
  const file = freshFile();
  const acknowledged = new Map<string, bigint>();
  for (let round = 0; round < 3; round += 1) {
    // Each begins with what the one before it had acknowledged.
    const running = startProcess(file, 'for (let key = 0; ; key += 1) await add(key);');
    await running.underWay;
    await new Promise((resolve) => setTimeout(resolve, 100));
    running.process.kill('SIGKILL');
    const now = await running.acknowledged;
    expect(now.size).toBeGreaterThan(0);
    for (const [key, id] of now) {
      expect(acknowledged.get(key) ?? id, key).toBe(id);
      acknowledged.set(key, id);
    }
  }
  const stored = storedAdditions(file);
  expect(new Map(stored).size).toBe(stored.length);
  expect(stored).toEqual(expect.arrayContaining([...acknowledged]));
  // At most one was stored in each round whose acknowledgement did not come through.
  expect(stored.length).toBeLessThanOrEqual(acknowledged.size + 3);
});

test('on a full disk additions are unavailable, and those that were acknowledged are stored', async () => {
  const file = freshFile();
  const program = `
    let failures = 0;
    for (let key = 0; key < 5_000 && failures < 20; key += 1) {
      await add(key).catch((error) => {
        if (error.code !== 'storage_unavailable' || /disk|database|SQL/.test(error.message)) throw error;
        failures += 1;
      });
    }
    await storage.pets.find(1n);
    writeSync(1, 'failures ' + failures + '\\n');
  `;
  const { failures, ...acknowledged } = Object.fromEntries(await startProcess(file, program, '400').acknowledged);
  expect(failures).toBe(20n);
  expect(Object.keys(acknowledged).length).toBeGreaterThan(0);
  expect(storedAdditions(file)).toEqual(Object.entries(acknowledged));
  // With room again, the file is as good as ever.
  const storage = createSqliteStorage({ file });
  onTestFinished(async () => storage.close());
  expect(await storage.pets.find(1n)).toMatchObject({ id: 1n, name: 'Rex' });
});
