import { createMemoryStorage } from '@animal-store/adapter-memory';
import { expect, test, vi } from 'vitest';
import { createMetrics } from './metrics.ts';

test('a call of the storage that can not be recorded has its own outcome, and the defect is reported', async () => {
  const defect = new Error('a defect of an observer');
  const storageCheck = {
    get outage(): string | null {
      throw defect;
    },
    check: async () => {},
    recheck() {},
  };
  const onError = vi.fn();
  const zero = () => 0;
  const options = { version: { version: '1.0.0' }, inFlight: zero, droppedLines: zero };
  const { pets } = createMetrics({ ...options, storageCheck, onError }).instrument(createMemoryStorage());
  expect(await pets.find(1n)).toBeNull();
  expect(onError).toHaveBeenCalledExactlyOnceWith(defect);
});
