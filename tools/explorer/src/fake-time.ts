import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import type { FakeTimer, World } from './world.ts';

type Functions = Record<string, unknown>;

/**
 * Replaces timers and clocks by those of the present run, until the returned function puts them back. It is called in a
 * process of its own, where nothing else waits.
 *
 * @param present Returns the present run.
 */
export function fakeTime(present: () => World): () => void {
  const later = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    present().timer(() => run(...args), Math.max(ms ?? 0, 1));
  const soon = (run: (...args: unknown[]) => void, ...args: unknown[]) => present().timer(() => run(...args));
  const clear = (timer?: FakeTimer) => {
    if (timer !== undefined) present().timers.delete(timer.id);
  };
  const now = () => present().now();
  const functions = {
    setTimeout: later,
    setImmediate: soon,
    clearTimeout: clear,
    clearImmediate: clear,
  };
  const fakes: readonly (readonly [object, Functions])[] = [
    [globalThis, functions],
    [timers, functions],
    [timersPromises, { setTimeout: (ms: number) => new Promise((resolve) => later(resolve, ms)) }],
    [performance, { now }],
    [Date, { now }],
  ];
  const originals = fakes.map(([target, { ...names }]): readonly [object, Functions] => {
    for (const name of Object.keys(names)) names[name] = Reflect.get(target, name);
    return [target, names];
  });
  const replace = (list: typeof fakes) => {
    for (const [target, replacements] of list) Object.assign(target, replacements);
    syncBuiltinESMExports();
  };
  replace(fakes);
  return () => replace(originals);
}
