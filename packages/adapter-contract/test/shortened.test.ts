import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { failureOfSequences } from '../src/any-sequence.ts';
import { adapterWith } from './broken/copies-adapter.ts';

test('a failure of a sequence shows the shortest one that was found, and its seed', async () => {
  const failure = await failureOfSequences(adapterWith('The use of an unknown API key makes a record'));
  const [, log] = failure?.message.split('\nafter:\n') ?? [];
  expect(log?.split('\n').length, log).toBeLessThan(9);
  expect(log).toMatch(/\nThe seed 63 makes the same sequences\. For others: fc\.configureGlobal\(\{ seed: 64 \}\)$/);

  onTestFinished(fc.resetConfigureGlobal);
  fc.configureGlobal({ interruptAfterTimeLimit: 0, markInterruptAsFailure: true });
  const interrupted = await failureOfSequences(adapterWith('none'));
  expect(interrupted?.message, 'if the author interrupts them').toMatch(/interrupted/);
});
