import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { freshPlace } from '../../test/fresh-place.ts';
import { identityOf } from '../connection/file-identity.ts';
import { connect, openFile } from '../connection/open-file.ts';
import type { Write } from './transaction.ts';
import { createWriter } from './writer.ts';

const createRex: Write = ['createPet', 'Rex', 7n, null, null, null, null];
const LOCKED = { error: [expect.any(Error), expect.objectContaining({ errcode: 5 })] };
const created = (id: number) => ({ results: [{ id, created: true }], errors: new Map() });

/** A file, and a connection that holds its lock. */
function lockedFile() {
  const path = freshPlace();
  const other = openFile(path);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  return { data: { path, identity: identityOf(path) }, release: () => other.exec('ROLLBACK') };
}

/** The writer of a file whose lock is released after a number of pauses. Time passes only while it pauses. */
function waitingWriter(pausesUntilRelease: number) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { data, release } = lockedFile();
  const pauses: number[] = [];
  const { commit, close } = createWriter(data, connect, (milliseconds) => {
    vi.advanceTimersByTime(milliseconds);
    pauses.push(milliseconds);
    if (pauses.length === pausesUntilRelease) release();
  });
  onTestFinished(close);
  return { commit, release, pauses };
}

/** A writer that can't open its file, with a result code of SQLite. */
function writerThatFails(errcode: number) {
  let tries = 0;
  const { commit } = createWriter(lockedFile().data, () => {
    tries += 1;
    throw Object.assign(new Error('no'), { errcode });
  });
  return { commit, tries: () => tries };
}

describe('while another connection holds the lock', () => {
  test('commits when the lock is released, after pauses that grow to 5 ms', () => {
    const { commit, pauses } = waitingWriter(6);
    expect(commit([createRex])).toEqual(created(1));
    expect(pauses).toEqual([0.5, 1, 2, 4, 5, 5]);
  });

  test("commits nothing and replies with SQLite's error after a tenth of a second, not earlier", () => {
    const { commit, release } = waitingWriter(Number.POSITIVE_INFINITY);
    const begin = performance.now();
    expect(commit([createRex])).toEqual(LOCKED);
    expect(performance.now() - begin).toBeGreaterThanOrEqual(100);
    expect(performance.now() - begin).toBeLessThan(106);
    release();
    expect(commit([createRex])).toEqual(created(1));
  });

  test('blocks its thread between tries, also while it opens the file', () => {
    const { commit, tries } = writerThatFails(5);
    const begin = performance.now();
    expect(commit([createRex])).toEqual(LOCKED);
    expect(performance.now() - begin).toBeGreaterThanOrEqual(100);
    expect(tries()).toBeLessThan(30);
  });
});

test('replies with any other error after one try', () => {
  const { commit, tries } = writerThatFails(13);
  expect(commit([createRex])).toEqual({ error: [expect.any(Error), { errcode: 13 }] });
  expect(tries()).toBe(1);
});
