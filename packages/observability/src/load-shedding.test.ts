import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLoadShedding } from './load-shedding.ts';

/** Keeps the event loop busy for so many milliseconds. */
function block(milliseconds: number): void {
  for (const start = performance.now(); performance.now() - start < milliseconds; );
}

const OPERATIONS = Array.from({ length: 30 }, (_, index) => index + 1);

/** Which of the next thirty operations are shed, by number. */
const shedOf = ({ shouldShed }: ReturnType<typeof createLoadShedding>) =>
  OPERATIONS.filter(() => shouldShed() !== false);

function start(...options: Parameters<typeof createLoadShedding>) {
  const shedding = createLoadShedding(...options);
  onTestFinished(() => shedding.stop());
  return shedding;
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
    const shedding = createLoadShedding(30, monitor);
    expect(measured.enable).toHaveBeenCalledOnce();
    expect(interval.mock.results[0]?.value.hasRef()).toBe(false);
    // null: nothing was measured.
    const shed = [31, null, 31, 31, 30, 31, 31, null, 0].map((delay) => {
      pass(delay);
      return shedOf(shedding).length;
    });
    expect(shed).toEqual([0, 0, 18, 18, 0, 0, 18, 18, 0]);
    shedding.stop();
    expect(vi.getTimerCount()).toBe(0);
    expect(measured.disable).toHaveBeenCalledOnce();
  });

  test('runs the first ten operations of each period, and one of ten further ones', () => {
    const { monitor, pass } = fakeMonitor();
    const shedding = start(30, monitor);
    for (const delay of [31, 31]) pass(delay);
    const shed = OPERATIONS.filter((number) => number > 10 && number !== 20 && number !== 30);
    expect(shedOf(shedding)).toEqual(shed);
    pass(31);
    expect(shedOf(shedding)).toEqual(shed);
  });

  // The machine may keep the process waiting after a task, too.
  test('sheds nothing because of a single long task', { retry: 2 }, async () => {
    const shedding = start(100);
    const seen = new Set<number>();
    for (let task = 0; task < 3; task += 1) {
      block(500);
      for (let check = 0; check < 10; check += 1) {
        await sleep(30);
        seen.add(shedOf(shedding).length);
      }
    }
    expect([...seen]).toEqual([0]);
  });

  test('does not count the time between two measurements as delay', async () => {
    const shedding = start(9);
    await sleep(300);
    await expect.poll(() => shedOf(shedding)).toEqual([]);
  });

  test('sheds nothing if the limit is 0', () => {
    const { monitor, pass } = fakeMonitor();
    const shedding = start(0, monitor);
    const seen = [31, 31, 31].map((delay) => {
      pass(delay);
      return shedOf(shedding);
    });
    expect(seen).toEqual([[], [], []]);
  });
});
