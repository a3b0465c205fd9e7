import { expect, test } from 'vitest';
import { shortened } from '../src/any-sequence.ts';
import { failureOfPlan, plansOf } from '../src/model/steps.ts';
import { adapterWith } from './broken/copies-adapter.ts';

const linesOf = ({ message }: Error) => message.split('\nafter:\n')[1]?.split('\n') ?? [];

test('a failure of a sequence shows the shortest one that was found', async () => {
  const adapter = adapterWith('The use of an unknown API key makes a record');
  for (const plan of plansOf(adapter, { numRuns: 18 })) {
    const { failure } = await failureOfPlan(adapter, plan);
    if (failure === null) continue;
    const whole = linesOf(failure.error).length;
    const shortest = linesOf(await shortened(adapter, failure, plan.hasOtherProcess));
    expect(shortest.length, shortest.join('\n')).toBeLessThan(12);
    expect(whole).toBeGreaterThan(shortest.length);
    return;
  }
  expect.unreachable('no sequence finds it');
});
