import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { onFirstSignal, requireNode } from './run-application.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([
  ['20.20.2', false],
  ['24.15.9', false],
  ['24.16.0', true],
  ['26.0.0', true],
])('requireNode judges Node.js %s: %s', (node, isSupported) => {
  const write = vi.fn();
  vi.stubGlobal('process', { versions: { node }, version: `v${node}`, exitCode: undefined, stderr: { write } });
  expect(requireNode('animal-store')).toBe(isSupported);
  const line = `animal-store: needs Node.js 24.16 or newer, this is v${node}\n`;
  expect([write.mock.calls, process.exitCode]).toEqual(isSupported ? [[], undefined] : [[[line]], 2]);
});

test('a signal of the same kind within 0.5 s counts as the first, a later one has its default action', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const run = vi.fn();
  const end = onFirstSignal('SIGUSR2', run);
  process.emit('SIGUSR2');
  end();
  vi.advanceTimersByTime(499);
  process.emit('SIGUSR2');
  expect(run).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(1);
  expect(process.listenerCount('SIGUSR2')).toBe(0);
});
