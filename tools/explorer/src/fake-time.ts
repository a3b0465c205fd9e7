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
  const repeatedly = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    present().timer(() => run(...args), Math.max(ms ?? 0, 1), true);
  const soon = (run: (...args: unknown[]) => void, ...args: unknown[]) => present().timer(() => run(...args));
  const clear = (timer?: FakeTimer) => {
    if (timer !== undefined) present().timers.delete(timer.id);
  };
  const timeout = (ms: number) => {
    const controller = new AbortController();
    later(() => controller.abort(new DOMException('the time is over', 'TimeoutError')), ms);
    return controller.signal;
  };
  const now = () => present().now();
  const functions = {
    setTimeout: later,
    setInterval: repeatedly,
    setImmediate: soon,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
  const fakes: readonly (readonly [object, Functions])[] = [
    [globalThis, functions],
    [timers, functions],
    [
      timersPromises,
      {
        setTimeout: (ms: number, value: unknown) => new Promise((resolve) => later(resolve, ms, value)),
        setImmediate: (value: unknown) => new Promise((resolve) => soon(resolve, value)),
      },
    ],
    [AbortSignal, { timeout }],
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
