import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import type { Timer, World } from '../src/world.ts';

type Functions = Readonly<Record<string, unknown>>;

/** As much of a timer of Node.js as the modules use. */
interface FakeTimer {
  readonly step: Timer;
  unref(): FakeTimer;
}

/**
 * Replaces timers and clocks by those of the present run, until the returned function puts them back. It is called in a
 * process of its own, where nothing else waits.
 *
 * @param present Returns the present run.
 */
export function fakeTime(present: () => World): () => void {
  function start(run: () => void, ms: number): FakeTimer {
    const timer = { step: present().startTimer(run, ms), unref: () => timer };
    return timer;
  }
  const later = (run: () => void, ms: number) => start(run, Math.max(ms, 1));
  const now = () => present().now();
  const functions = {
    setTimeout: later,
    setImmediate: (run: () => void) => start(run, 0),
    clearTimeout: (timer?: FakeTimer) => timer && present().stopTimer(timer.step),
  };
  const fakes: readonly (readonly [object, Functions])[] = [
    [globalThis, functions],
    [timers, functions],
    [timersPromises, { setTimeout: (ms: number) => new Promise<void>((resolve) => later(resolve, ms)) }],
    [performance, { now }],
    [Date, { now }],
  ];
  const originals = fakes.map(([target, names]): readonly [object, Functions] => {
    return [target, Object.fromEntries(Object.keys(names).map((name) => [name, Reflect.get(target, name)]))];
  });
  const replace = (list: typeof fakes) => {
    for (const [target, replacements] of list) Object.assign(target, replacements);
    syncBuiltinESMExports();
  };
  replace(fakes);
  return () => replace(originals);
}
