import { expect, test } from 'vitest';
import { databaseAt, freshFile, storageAt } from './fixtures.ts';
import { startProcess } from './processes.ts';

/** How many creations are in flight at once. */
const TOGETHER = 20;

/** The stored idempotency keys, each with the id of its pet. */
function storedKeys(file: string): (readonly [string, bigint])[] {
  const db = databaseAt(file, { readBigInts: true });
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  const rows = db.prepare('SELECT idempotency_key AS key, id FROM pets ORDER BY id').all();
  return rows.map(({ key, id }) => [String(key), id as bigint]);
}

test('acknowledged pets survive kill -9, each idempotency key once', async () => {
  const file = freshFile();
  const acknowledged = new Map<string, bigint>();
  for (let round = 0; round < 3; round += 1) {
    // Each begins with what the one before it had acknowledged.
    const running = startProcess(file, `for (let key = 0; ; key += ${TOGETHER}) await addFrom(key, ${TOGETHER});`);
    await running.underWay(acknowledged.size + 200);
    running.process.kill('SIGKILL');
    const now = await running.acknowledged();
    expect([...now].filter(([key, id]) => (acknowledged.get(key) ?? id) !== id)).toEqual([]);
    for (const [key, id] of now) acknowledged.set(key, id);
  }
  const stored = storedKeys(file);
  const idOf = new Map(stored);
  expect(idOf.size).toBe(stored.length);
  expect([...acknowledged].filter(([key, id]) => idOf.get(key) !== id)).toEqual([]);
  // In each round only creations in flight can be stored without an acknowledgement.
  expect(stored.length).toBeLessThanOrEqual(acknowledged.size + 3 * TOGETHER);
});

test('a full disk makes the storage and creations unavailable, and loses no acknowledged pet', async () => {
  const file = freshFile();
  const program = `
      let failures = 0;
      for (let key = 0; key < 5_000 && failures < 20; key += ${TOGETHER}) {
        await addFrom(key, ${TOGETHER}).catch((error) => {
          if (error.code !== 'storage_unavailable' || /disk|database|SQL/.test(error.message)) throw error;
          // On a busy machine a call may also take too long.
          if ([10, 13].includes(error.cause?.errcode & 0xff)) failures += 1;
        });
      }
      await storage.pets.find(1n);
      await storage.ready().then(() => { throw new Error('ready') }, ({ code }) => writeSync(1, code + ' 0\\n'));
      writeSync(1, 'failures ' + failures + '\\n');
      await storage.close();
    `;
  const output = Object.fromEntries(await startProcess(file, program, '-f 400').acknowledged());
  const { failures, storage_unavailable: notReady, ...acknowledged } = output;
  expect([failures, notReady]).toEqual([20n, 0n]);
  expect(Object.keys(acknowledged).length).toBeGreaterThan(0);
  expect(storedKeys(file)).toEqual(Object.entries(acknowledged));
  // When the disk has space again, the file can be written.
  const storage = await storageAt(file);
  await storage.ready();
  expect(await storage.pets.find(1n)).toMatchObject({ id: 1n, name: 'Rex' });
});

test('a storage is unavailable while its process has too many files open', async () => {
  const program = `
    const file = process.env.SQLITE_FILE + '2';
    const files = [];
    try { for (;;) files.push(openSync('/dev/null')); } catch {}
    for (const free of [0, 1]) {
      for (const each of files.splice(0, free)) closeSync(each);
      const opened = await createSqliteStorage({ file });
      await opened.ready().catch(({ cause }) => writeSync(1, cause.code + free + ' 0\\n'));
      await opened.close();
    }
    for (const each of files) closeSync(each);
    await (await createSqliteStorage({ file })).ready();
    writeSync(1, 'ready 0\\n');
    process.exit();
  `;
  const output = await startProcess(freshFile(), program, '-n 100').acknowledged();
  expect([...output.keys()]).toEqual(['EMFILE0', 'EMFILE1', 'ready']);
});
