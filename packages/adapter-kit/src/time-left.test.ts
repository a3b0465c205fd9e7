import { unavailable } from '@animal-store/domain/ports';
import { expect, onTestFinished, test, vi } from 'vitest';
import { timeLeft } from './time-left.ts';

test('timeLeft is a whole number that AbortSignal.timeout accepts, until the deadline is over', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const deadline = performance.now() + 2_200.5;
  expect(timeLeft(deadline)).toBe(2_200);
  expect(AbortSignal.timeout(timeLeft(deadline)).aborted).toBe(false);
  vi.advanceTimersByTime(2_199);
  expect(timeLeft(deadline)).toBe(1);
  vi.advanceTimersByTime(1);
  expect(() => timeLeft(deadline)).toThrow(unavailable());
});
