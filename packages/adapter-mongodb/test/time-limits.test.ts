import { behindProxy, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { expect, test } from 'vitest';
import { TIME_LIMITS, type TimeLimits } from '../src/index.ts';
import { openStorage, TOLERANCE } from './fixtures.ts';

/** A limit that a test is about, in milliseconds. */
const LIMIT = 2_000;

const open = (url: string, timeLimits: Partial<TimeLimits>) => openStorage({ url, timeLimits });

describeWithMongo('a limit of its own ends', () => {
  const long = Object.fromEntries(Object.keys(TIME_LIMITS).map((stage) => [stage, 60_000]));

  /** A database behind a proxy. It is prepared, because that takes a slow disk longer than {@link LIMIT}. */
  async function preparedBehindProxy() {
    const url = freshDatabase();
    await open(url, long).ready();
    return behindProxy(url);
  }

  /** Why a call failed, and after how many milliseconds. */
  async function failure(call: unknown): Promise<{ cause: Error; after: number }> {
    const started = performance.now();
    const error = await Promise.resolve(call).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    return { cause: (error as Error).cause as Error, after: performance.now() - started };
  }

  test('finding a server', { retry: 2 }, async () => {
    const storage = open('mongodb://127.0.0.1:1/animals', { ...long, serverSelection: LIMIT });
    const { cause, after } = await failure(storage.ready());
    expect(cause.name).toBe('MongoServerSelectionError');
    expect(after).toBeLessThan(LIMIT + TOLERANCE);
  });

  test('opening a socket', { retry: 2 }, async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    proxy.swallow();
    const storage = open(url, { ...long, connect: 300, serverSelection: LIMIT });
    const { cause, after } = await failure(storage.ready());
    expect(cause.message).toMatch(/timed out/);
    expect(cause.message).not.toMatch(/Server selection timed out/);
    expect(after).toBeLessThan(LIMIT + TOLERANCE);
  });

  test('silence on a socket', { retry: 2 }, async () => {
    const { url, proxy } = await preparedBehindProxy();
    const storage = open(url, { ...long, socket: LIMIT, connect: LIMIT });
    await storage.pets.find(1n);
    proxy.swallow();
    const { cause, after } = await failure(storage.pets.find(1n));
    expect(cause.message).toMatch(/timed out/);
    // The driver tries twice: the second time by a new socket.
    expect(after).toBeLessThan(2 * LIMIT + TOLERANCE);
  });

  test('the call, whatever the limits of its stages', { retry: 2 }, async () => {
    const { url, proxy } = await preparedBehindProxy();
    const storage = open(url, { ...long, call: LIMIT });
    await storage.pets.find(1n);
    proxy.swallow();
    const { cause, after } = await failure(storage.pets.find(1n));
    expect(cause.message).toBe(`no response within ${LIMIT} ms`);
    expect(after).toBeLessThan(LIMIT + TOLERANCE);
  });

  test('waiting for a read that is in flight', { retry: 2 }, async () => {
    const { url, proxy } = await preparedBehindProxy();
    const storage = open(`${url}&maxPoolSize=1`, { ...long, socket: 15_000, queue: LIMIT, batch: LIMIT });
    await storage.pets.find(1n);
    proxy.swallow();
    const first = failure(storage.pets.find(1n));
    // The first has the only connection: the second fails for lack of another, so it has been sent.
    const { cause, after } = await failure(storage.pets.find(2n));
    expect(cause.name).toBe('MongoWaitQueueTimeoutError');
    expect(after).toBeGreaterThanOrEqual(2 * LIMIT - 10);
    expect(after).toBeLessThan(3 * LIMIT + TOLERANCE);
    await storage.close();
    await first;
  });
});
