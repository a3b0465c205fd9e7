import { behindProxy, describeWithContainers, freshDatabase } from '@animal-store/test-mongodb';
import { expect, test } from 'vitest';
import { TIME_LIMITS, type TimeLimits } from '../src/index.ts';
import { openStorage, TOLERANCE } from './fixtures.ts';

const LONG = 40_000;

const open = (url: string, timeLimits: Partial<TimeLimits>) => openStorage({ url, timeLimits });

describeWithContainers('each stage ends by its own limit, however long the call may take:', () => {
  const long = Object.fromEntries(Object.keys(TIME_LIMITS).map((stage) => [stage, 60_000]));

  /** Why a call failed, and after how many milliseconds. */
  async function failure(call: unknown): Promise<{ cause: Error; after: number }> {
    const started = performance.now();
    const error = await Promise.resolve(call).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    return { cause: (error as Error).cause as Error, after: performance.now() - started };
  }

  test('finding a server', async () => {
    const storage = open('mongodb://127.0.0.1:1/animals', { ...long, serverSelection: 300 });
    const { cause, after } = await failure(storage.ready());
    expect(cause.name).toBe('MongoServerSelectionError');
    expect(after).toBeLessThan(300 + TOLERANCE);
  });

  test('opening a socket', { timeout: LONG }, async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    proxy.swallow();
    const storage = open(url, { ...long, connect: 300, serverSelection: 1_000 });
    const { cause, after } = await failure(storage.ready());
    expect(cause.message).toMatch(/timed out/);
    expect(cause.message).not.toMatch(/Server selection timed out/);
    expect(after).toBeLessThan(1_000 + TOLERANCE);
  });

  test('silence on a socket', { timeout: LONG }, async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    const storage = open(url, { ...long, socket: 300, connect: 300 });
    await storage.pets.find(1n);
    proxy.swallow();
    const { cause, after } = await failure(storage.pets.find(1n));
    expect(cause.message).toMatch(/timed out/);
    // The driver tries twice: the second time by a new socket.
    expect(after).toBeLessThan(2 * 300 + TOLERANCE);
  });

  test('the call, however long its stages may take', { timeout: LONG }, async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    const storage = open(url, { ...long, call: 1_000 });
    await storage.pets.find(1n);
    proxy.swallow();
    const { cause, after } = await failure(storage.pets.find(1n));
    expect(cause.message).toBe('no response within 1000 ms');
    expect(after).toBeLessThan(1_000 + TOLERANCE);
  });

  test('waiting for a connection', { timeout: LONG }, async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    const storage = open(`${url}&maxPoolSize=1`, { ...long, socket: 5_000, queue: 300 });
    await storage.pets.find(1n);
    proxy.swallow();
    const first = failure(storage.pets.find(1n));
    const { cause, after } = await failure(storage.pets.list({ after: 0n, limit: 1 }));
    expect(cause.name).toBe('MongoWaitQueueTimeoutError');
    expect(after).toBeLessThan(2 * 300 + TOLERANCE);
    await storage.close();
    await first;
  });

  test('waiting for a read that is in flight', { timeout: LONG }, async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    const storage = open(`${url}&maxPoolSize=1`, { ...long, socket: 5_000, queue: 300, batch: 300 });
    await storage.pets.find(1n);
    proxy.swallow();
    const first = failure(storage.pets.find(1n));
    // The first has the only connection: the second fails for lack of another, so it has been sent.
    const { cause, after } = await failure(storage.pets.find(2n));
    expect(cause.name).toBe('MongoWaitQueueTimeoutError');
    expect(after).toBeGreaterThanOrEqual(2 * 300 - 10);
    expect(after).toBeLessThan(3 * 300 + TOLERANCE);
    await storage.close();
    await first;
  });
});
