import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { get, open, serve } from '../test/serving.ts';

describe('requests that wait for others on their connection', () => {
  test('are dropped with their connections if more than 20,000 wait, those on which most wait first', async () => {
    const { promise: work, resolve: finishWork } = Promise.withResolvers<void>();
    const { port, drops, served } = await serve(async (_request, response) => {
      await work;
      response.end();
    });
    const first = open(port, get('/'));
    await expect.poll(served).toBe(1);
    // On each connection one is being served, and 100 wait, because all arrive in one packet.
    const greedy = Array.from({ length: 200 }, () => open(port, get('/').repeat(101)));
    await expect.poll(served).toBe(201);
    expect(drops).toEqual([]);
    const last = open(port, get('/').repeat(2));
    await expect.poll(() => drops).not.toEqual([]);
    finishWork();
    await expect.poll(first.statuses).toEqual([200]);
    await expect.poll(last.statuses).toEqual([200, 200]);
    const kept = () => greedy.filter(({ socket }) => !socket.destroyed);
    await expect.poll(() => kept().length).toBe(200 - drops.length);
    expect(kept().length).toBeGreaterThan(0);
    for (const { statuses } of kept()) await expect.poll(statuses).toEqual(Array(101).fill(200));
    expect(drops).toEqual(drops.map(() => 'requests'));
  });

  test('no longer count when their connections are closed', async () => {
    const sockets: Socket[] = [];
    const { port, drops, served } = await serve(({ socket }) => void sockets.push(socket));
    for (const connections of [120, 240]) {
      const clients = Array.from({ length: 120 }, () => open(port, get('/').repeat(101)));
      await expect.poll(served).toBe(connections);
      for (const socket of sockets) socket.destroy();
      await Promise.all(clients.map(({ closed }) => closed));
    }
    expect(drops).toEqual([]);
  });
});
