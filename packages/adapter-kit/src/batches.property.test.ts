import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBatches } from './batches.ts';

const TIMEOUT = 500;

/** Lets everything happen that needs no time: the end of a batch, then the begin of the next one. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('each call gets a result that was read after the call, for any order of calls and results', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('call' as const) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('change' as const) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(20), ok: fc.boolean() }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('time' as const), passes: fc.integer({ min: 1, max: 600 }) }),
      },
    ),
    { maxLength: 60 },
  );
  const limits = fc.record({ parallel: fc.integer({ min: 1, max: 4 }), maxItems: fc.integer({ min: 1, max: 5 }) });
  await fc.assert(
    fc.asyncProperty(steps, limits, async (given, bounds) => {
      // The store is a growing number. A batch sees the number at its begin.
      let stored = 0;
      const open: { end(ok: boolean): void; begunAt: number }[] = [];
      let now = 0;
      const add = createBatches<null, number>(
        (items) => {
          const seen = stored;
          const waitedFor = open.filter(({ begunAt }) => now - begunAt < TIMEOUT);
          expect(waitedFor.length).toBeLessThan(bounds.parallel);
          expect(items.length).toBeLessThanOrEqual(bounds.maxItems);
          const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
          const batch = {
            begunAt: now,
            end: (ok: boolean) => (ok ? resolve(items.map(() => seen)) : reject(new Error('down'))),
          };
          open.push(batch);
          return promise.finally(() => open.splice(open.indexOf(batch), 1));
        },
        { ...bounds, timeout: TIMEOUT },
      );
      const calls: Promise<string>[] = [];
      for (const step of given) {
        if (step.kind === 'call') {
          const atLeast = stored;
          const told = (seen: number) => (seen >= atLeast ? 'fresh' : `stale: ${seen} after ${atLeast}`);
          calls.push(add(null).then(told, (reason: Error) => reason.message));
        } else if (step.kind === 'change') {
          stored += 1;
        } else if (step.kind === 'time') {
          now += step.passes;
          vi.advanceTimersByTime(step.passes);
        } else {
          open[step.which % open.length]?.end(step.ok);
        }
        await settle();
      }
      // No call is forgotten.
      while (open.length > 0) {
        open[0]?.end(true);
        await settle();
      }
      for (const end of await Promise.all(calls)) expect(['fresh', 'down']).toContain(end);
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 300 },
  );
});
