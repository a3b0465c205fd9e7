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
  const [first = 0] = await freePorts(5);
  await take(first + 1);
  const found = new Set<number | undefined>();
  for (let count = 0; count < 50; count += 1) {
    const [port = 0, next] = await freePorts(2, { first, end: first + 5 });
    expect(next).toBe(port + 1);
    found.add(port);
  }
  expect([...found].sort()).toEqual([first + 2, first + 3]);
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
