import { DatabaseSync } from 'node:sqlite';
import { DomainError, type NewPet } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { addTo } from './add-to.ts';
import { freshFile } from './fresh-file.ts';
import { startProcess } from './processes.ts';

const rex: NewPet = { name: 'Rex', categoryId: 1n };

function storageAt(file: string): PetStorage {
  const storage = createSqliteStorage({ file });
  onTestFinished(async () => storage.close());
  return storage;
}

test('processes that open a new file at the same time create one pet for each idempotency key', async () => {
  const file = freshFile();
  const program = 'await Promise.all(Array.from({ length: 200 }, (_, key) => addUntilStored(key)));';
  const running = Array.from({ length: 4 }, () => startProcess(file, program));
  const [first, ...others] = await Promise.all(running.map(({ acknowledged }) => acknowledged()));
  expect(first?.size).toBe(200);
  for (const other of others) expect(new Map([...other].sort())).toEqual(new Map([...(first ?? [])].sort()));
  expect(await storageAt(file).pets.list({ after: 0n, limit: 1_000 })).toHaveLength(200);
});

test('a storage sees at once what another one has created or revoked', async () => {
  const file = freshFile();
  const [one, other] = [storageAt(file), storageAt(file)];
  for (let count = 0; count < 20; count += 1) {
    const created = await addTo(one.pets, rex);
    expect(await other.pets.find(created?.id ?? 0n)).toEqual(created);
  }
  const digest = 'ab'.repeat(32);
  const id = digest.slice(0, 16);
  const key = { id, digest, visiblePrefix: 'anst_0000', holder: 'the zoo', createdAt: 1, expiresAt: null };
  await one.keys.add({ ...key, revokedAt: null, lastUsedAt: null });
  expect(await other.keys.find(digest)).toMatchObject({ revokedAt: null });
  await one.keys.revoke(id, 5);
  expect(await other.keys.find(digest)).toMatchObject({ revokedAt: 5 });
});

describe('while another process holds the lock for writing', () => {
  function locked(): { storage: PetStorage; other: DatabaseSync } {
    const file = freshFile();
    const storage = storageAt(file);
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    return { storage, other };
  }

  test('a creation waits without blocking this process, and is made when the lock is released', {
    retry: 2,
  }, async () => {
    const { storage, other } = locked();
    const start = performance.now();
    const creating = addTo(storage.pets, rex);
    expect(performance.now() - start).toBeLessThan(100);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(storage.pets.list({ after: 0n, limit: 1 })).toEqual([]);
    other.exec('COMMIT');
    expect(await creating).toMatchObject({ name: 'Rex' });
    expect(storage.pets.list({ after: 0n, limit: 1 })).toHaveLength(1);
  });

  test('writes are unavailable within 5 seconds and never made, and reads go on', async () => {
    const { storage, other } = locked();
    const start = performance.now();
    const calls = Array.from({ length: 200 }, () => Promise.resolve(addTo(storage.pets, rex)));
    const outcomes = await Promise.allSettled([...calls, storage.ready()]);
    expect(performance.now() - start).toBeLessThan(5_000);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(DomainError);
      expect(reason.message).not.toMatch(/lock|database|SQL|\//i);
      expect(reason.cause).toMatchObject({ errcode: 5 });
    }
    other.exec('ROLLBACK');
    await storage.ready();
    expect(storage.pets.list({ after: 0n, limit: 1 })).toEqual([]);
  });

  test('waiting writes are rejected when the storage is closed', async () => {
    const { storage } = locked();
    const creating = addTo(storage.pets, rex);
    const outcome = expect(creating).rejects.toMatchObject({ message: 'the storage is closed' });
    await storage.close();
    await outcome;
  });
});
