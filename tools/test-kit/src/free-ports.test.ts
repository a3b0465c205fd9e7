import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts, onFreePorts } from './free-ports.ts';

/** Takes a port for the running test. */
async function take(port: number | undefined): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

test('finds neighbours that no program listens at', async () => {
  const range = { first: 19_990, end: 19_995 };
  await take(19_991);
  for (let count = 0; count < 20; count += 1) {
    const [port = 0, next] = await freePorts(2, range);
    expect([port, next]).toEqual([expect.toBeOneOf([19_992, 19_993]), port + 1]);
  }
});

test('starts a program on other ports if one was taken, and not after another error', async () => {
  const tried: number[] = [];
  const started = onFreePorts(2, async (one, two) => {
    tried.push(one);
    if (tried.length === 1) await take(two);
    await take(one);
    await take(two);
    return two;
  });
  expect(await started).toBe((tried[1] ?? 0) + 1);
  const failing = onFreePorts(1, async (port) => {
    tried.push(port);
    throw new Error('the configuration is wrong');
  });
  await expect(failing).rejects.toThrow('the configuration is wrong');
  expect(tried).toHaveLength(3);
});
