import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { identityOf } from '../src/connection/file-identity.ts';
import { openFile } from '../src/connection/open-file.ts';
import { createWriterThread, type WriterThread } from '../src/writing/writer-thread.ts';
import { freshFile } from './fixtures.ts';

/** More than an idle thread needs to end, in milliseconds. */
const END_TIMEOUT = 20_000;

const createRex = ['createPet', 'Rex', 7n, 'sold', null, null, null] as const;

/** The data of programs that need no identity. */
const dataOf = (path: string) => () => ({ path, identity: { database: '', log: '', index: '' } });

/** A thread with a program of its own, which runs for each batch, may call `reply`, and knows the first batch. */
function threadWith(onBatch: string): WriterThread {
  const text = `
    import { existsSync, rmSync } from 'node:fs';
    import { parentPort, workerData } from 'node:worker_threads';
    const file = workerData.path;
    const reply = () => parentPort.postMessage({ results: ['written'], errors: new Map() });
    parentPort.on('message', (writes) => {
      if (writes === null) process.exit();
      const isFirst = existsSync(file);
      rmSync(file, { force: true });
      ${onBatch}
    });
  `;
  const path = freshFile();
  writeFileSync(path, '');
  return createWriterThread(dataOf(path), new URL(`data:text/javascript,${encodeURIComponent(text)}`));
}

// tools/explorer has threads that end while they are idle, can't be started, or hang.

describe('a thread that ends unexpectedly', () => {
  test.each([
    ['ends', 'process.exit(7);', /^the writer thread ended with code 7$/],
    ['throws', "throw new Error('out of order');", /^out of order$/],
  ])('makes the batch unavailable, and the next one starts another (it %s)', async (_, end, message) => {
    const thread = threadWith(`if (isFirst) { ${end} } reply();`);
    await expect(thread.commit([createRex])).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: expect.objectContaining({ message: expect.stringMatching(message) }),
    });
    expect((await thread.commit([createRex])).results).toEqual(['written']);
    await thread.end(END_TIMEOUT);
  });
});

describe('the end', () => {
  test('writes the log back into the file', async () => {
    const file = freshFile();
    const db = openFile(file);
    const thread = createWriterThread(() => ({ path: file, identity: identityOf(file) }));
    await thread.commit([createRex]);
    db.close();
    expect(existsSync(`${file}-wal`)).toBe(true);
    await thread.end(END_TIMEOUT);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });
});
