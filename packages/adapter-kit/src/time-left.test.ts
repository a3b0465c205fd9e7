import { unavailable } from '@animal-store/domain/ports';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Work } from './limits.ts';
import { timeLeft } from './time-left.ts';

test('timeLeft is a whole number that timers accept, until the deadline is over, or nobody waits', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const call = new Work(performance.now() + 2_200.5);
  const ended = new Work(call.deadline);
  ended.end();
  expect(timeLeft(call)).toBe(2_200);
  expect(AbortSignal.timeout(timeLeft(call)).aborted).toBe(false);
  vi.advanceTimersByTime(2_199);
  expect(timeLeft(call)).toBe(1);
  vi.advanceTimersByTime(1);
  for (const work of [call, ended]) expect(() => timeLeft(work)).toThrow(unavailable());
});
