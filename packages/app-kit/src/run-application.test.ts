import { afterEach, expect, test, vi } from 'vitest';
import { requireNode } from './run-application.ts';

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
