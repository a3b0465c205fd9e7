import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLoadShedding } from './load-shedding.ts';

/** Keeps the event loop busy for so many milliseconds. */
function block(milliseconds: number): void {
  for (const start = performance.now(); performance.now() - start < milliseconds; );
}

/** How many of the next ten operations are shed, with this limit in milliseconds. */
function shedOfTen(...options: Parameters<typeof createLoadShedding>): () => number {
  const shedding = createLoadShedding(...options);
  onTestFinished(() => shedding.stop());
  return () => Array.from({ length: 10 }, shedding.shouldShed).filter((shed) => shed !== false).length;
}

/** A measurement of the event-loop delay that takes what the test says, under fake timers. */
function fakeMonitor() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const measured = { count: 0, min: 0, enable: vi.fn(), disable: vi.fn(), reset: () => measure(0, 2 ** 63) };
  const measure = (count: number, min: number) => void Object.assign(measured, { count, min });
  /** A period whose smallest delay is so many milliseconds. Each measured delay includes the resolution. */
  const pass = (delay: number | null) => {
    if (delay !== null) measure(1, (delay + 10) * 1e6);
    vi.advanceTimersByTime(100);
  };
  return { measured, monitor: () => measured, pass };
}

describe('createLoadShedding', () => {
  test('sheds from the second period in a row over the limit to the first one within it', () => {
    const { measured, monitor, pass } = fakeMonitor();
    const interval = vi.spyOn(globalThis, 'setInterval');
    const { shouldShed, stop } = createLoadShedding(30, monitor);
    expect(measured.enable).toHaveBeenCalledOnce();
    expect(interval.mock.results[0]?.value.hasRef()).toBe(false);
    // null: nothing was measured.
    const shed = [31, null, 31, 31, 30, 31, 31, null, 0].map((delay) => {
      pass(delay);
      return Array.from({ length: 10 }, shouldShed).filter(Boolean).length;
    });
    expect(shed).toEqual([0, 0, 9, 9, 0, 0, 9, 9, 0]);
    stop();
    expect(vi.getTimerCount()).toBe(0);
    expect(measured.disable).toHaveBeenCalledOnce();
  });

  // The machine may keep the process waiting after a task, too.
  test('sheds nothing because of a single long task', { retry: 2 }, async () => {
    const shed = shedOfTen(100);
    const seen = new Set<number>();
    for (let task = 0; task < 3; task += 1) {
      block(500);
      for (let check = 0; check < 10; check += 1) {
        await sleep(30);
        seen.add(shed());
      }
    }
    expect([...seen]).toEqual([0]);
  });

  test('does not count the time between two measurements as delay', async () => {
    const shed = shedOfTen(9);
    await sleep(300);
    await expect.poll(shed).toBe(0);
  });

  test('sheds nothing if the limit is 0', () => {
    const { monitor, pass } = fakeMonitor();
    const shed = shedOfTen(0, monitor);
    const seen = [31, 31, 31].map((delay) => {
      pass(delay);
      return shed();
    });
    expect(seen).toEqual([0, 0, 0]);
  });
});
