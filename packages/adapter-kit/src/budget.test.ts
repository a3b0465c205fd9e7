import { expect, test } from 'vitest';
import { BUDGET } from './budget.ts';

test('two calls end within the 5 seconds of a request, and each limit before the one outside it', () => {
  const { call, driver, server, lock, rest, connect, open } = BUDGET;
  expect(2 * (call + rest)).toBeLessThanOrEqual(5_000);
  expect(driver + rest).toBeLessThanOrEqual(call);
  expect(server + rest).toBeLessThanOrEqual(driver);
  expect(lock + rest).toBeLessThanOrEqual(server);
  // PostgreSQL looks for deadlocks after 1 second.
  expect(lock).toBeGreaterThan(1_000);
  expect(connect).toBeLessThan(5_000);
  expect(2 * connect).toBeLessThan(open);
});
