import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createLoadShedding } from './load-shedding.ts';

/** Keeps the event loop busy for so many milliseconds. */
function block(milliseconds: number): void {
  for (const start = performance.now(); performance.now() - start < milliseconds; );
}

/** Keeps the event loop busy for so many milliseconds of each turn. */
function blockEveryTurn(milliseconds: number): () => void {
  const timer = setInterval(block, 5, milliseconds);
  onTestFinished(() => clearInterval(timer));
  return () => clearInterval(timer);
}

/** How many of the next ten operations are refused, with this limit in milliseconds. */
function refusedOfTen(limit: number): () => number {
  const monitor = createLoadShedding(limit);
  onTestFinished(() => monitor.stop());
  return () => Array.from({ length: 10 }, monitor.shouldShed).filter(Boolean).length;
}

test('when turn after turn is late, nine of ten operations are refused, and none once a turn is in time', async () => {
  const refused = refusedOfTen(30);
  await sleep(1_500);
  expect(refused()).toBe(0);
  const release = blockEveryTurn(80);
  await expect.poll(refused, { timeout: 2_000 }).toBe(9);
  release();
  await expect.poll(refused, { timeout: 2_000 }).toBe(0);
});

test('one long turn refuses nothing: what it left waiting is done at once', async () => {
  const refused = refusedOfTen(100);
  const seen = new Set<number>();
  for (let turn = 0; turn < 3; turn += 1) {
    block(500);
    for (let check = 0; check < 10; check += 1) {
      await sleep(30);
      seen.add(refused());
    }
  }
  expect([...seen]).toEqual([0]);
});

test('the time between two measurements is not lateness', async () => {
  const refused = refusedOfTen(9);
  await sleep(300);
  await expect.poll(refused, { timeout: 5_000 }).toBe(0);
});

test('with a limit of 0 nothing is ever refused', async () => {
  const refused = refusedOfTen(0);
  blockEveryTurn(80);
  await sleep(600);
  expect(refused()).toBe(0);
});
