import { existsSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { identityOf } from '../src/connection/file-identity.ts';
import { openFile } from '../src/connection/open-file.ts';
import { createWriterThread, type WriterThread } from '../src/writing/writer-thread.ts';
import { freshFile } from './fresh-file.ts';

/** More than a thread that is well needs to end, in milliseconds. */
const END_TIMEOUT = 20_000;

const createRex = ['createPet', 'Rex', 7n, 'sold', null, null, null] as const;

/** The program of a thread, as text. `commits` is called for each batch, `reply` responds to it. */
function program(onBatch: string): URL {
  const text = `
    import { existsSync, rmSync } from 'node:fs';
    import { parentPort, workerData } from 'node:worker_threads';
    const file = workerData.path;
    const reply = () => parentPort.postMessage({ results: ['written'], errors: new Map() });
    parentPort.on('message', (writes) => {
      if (writes === null) process.exit();
      ${onBatch}
    });
  `;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

/** For the writer's own program. */
const dataOf = (path: string) => () => ({ path, identity: identityOf(path) });

/** For other programs. */
const pathOnly = (path: string) => () => ({ path, identity: { database: '', log: '', index: '' } });

function threadOn(file: string, onBatch?: string): WriterThread {
  const thread =
    onBatch === undefined ? createWriterThread(dataOf(file)) : createWriterThread(pathOnly(file), program(onBatch));
  onTestFinished(() => thread.end(END_TIMEOUT));
  return thread;
}

/** A file that exists, so that a thread can tell its first batch by it. */
function markedFile(): string {
  const file = freshFile();
  writeFileSync(file, '');
  return file;
}

/** A file that the running test has open. */
function opened(): { file: string; db: DatabaseSync } {
  const file = freshFile();
  const db = openFile(file);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return { file, db };
}

test('commits on a connection of its own, whose writes others see when they are acknowledged', async () => {
  const { file, db } = opened();
  const { results, errors } = await threadOn(file).commit([createRex, createRex]);
  expect(results).toEqual([
    { id: 1, created: true },
    { id: 2, created: true },
  ]);
  expect(errors.size).toBe(0);
  expect(db.prepare('SELECT count(*) AS count FROM pets').get()).toEqual({ count: 2 });
});

test("passes SQLite's errors on with their codes", async () => {
  const { file, db } = opened();
  const thread = threadOn(file);
  const { errors } = await thread.commit([createRex, ['createPet', '', 7n, null, null, null, null]]);
  expect(errors.get(1)).toMatchObject({ name: 'Error', code: 'ERR_SQLITE_ERROR', errcode: 275 });
  db.exec('BEGIN IMMEDIATE');
  await expect(thread.commit([createRex])).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 5 });
});

describe('a thread that ends unexpectedly', () => {
  test.each([
    ['ends', 'process.exit(7);', /^the writer thread ended with code 7$/],
    ['throws', "throw new Error('out of order');", /^out of order$/],
  ])('(it %s) makes the batch unavailable, and the next one starts another', async (_, end, message) => {
    const thread = threadOn(markedFile(), `if (existsSync(file)) { rmSync(file); ${end} } reply();`);
    await expect(thread.commit([createRex])).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: expect.objectContaining({ message: expect.stringMatching(message) }),
    });
    expect((await thread.commit([createRex])).results).toEqual(['written']);
  });

  // A batch that meets a thread on its way out is unavailable.
  test('while it is idle fails no call', { retry: 2 }, async () => {
    const onBatch = 'reply(); if (existsSync(file)) { rmSync(file); setTimeout(() => process.exit(7), 20); }';
    const thread = threadOn(markedFile(), onBatch);
    await thread.commit([createRex]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await thread.commit([createRex])).results).toEqual(['written']);
  });
});

test('a thread that can not be started makes the batch unavailable', async () => {
  const thread = createWriterThread(pathOnly(freshFile()), new URL('http://localhost/writer.js'));
  await expect(thread.commit([createRex])).rejects.toMatchObject({ code: 'storage_unavailable' });
});

describe('the end', () => {
  test('of a thread that was never needed is immediate', async () => {
    await createWriterThread(pathOnly(freshFile())).end(END_TIMEOUT);
  });

  test('writes the log back into the file', async () => {
    const { file, db } = opened();
    const thread = createWriterThread(dataOf(file));
    await thread.commit([createRex]);
    db.close();
    expect(existsSync(`${file}-wal`)).toBe(true);
    await thread.end(END_TIMEOUT);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  test('does not wait for a thread that hangs', async () => {
    const thread = createWriterThread(pathOnly(freshFile()), program('for (;;);'));
    const batch = expect(thread.commit([createRex])).rejects.toMatchObject({ code: 'storage_unavailable' });
    const begin = performance.now();
    await thread.end(700);
    expect(performance.now() - begin).toBeGreaterThan(600);
    expect(performance.now() - begin).toBeLessThan(3_000);
    await batch;
  });
});
