import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import type { World } from '../src/world.ts';

/** As much of a timer of Node.js as the modules use. */
interface FakeTimer {
  readonly run: () => void;
  /** In milliseconds. */
  readonly due: number;
  unref(): FakeTimer;
}

/**
 * Replaces timers and clocks by those of a run, until the returned function puts them back. It is called in a process of its
 * own, where nothing else waits. Due timers run in their order, one a step.
 */
export function fakeTime(world: World): () => void {
  const waiting: FakeTimer[] = [];
  world.nextTimer = () => waiting[0]?.due;
  world.event('timer', {
    can: () => waiting[0] !== undefined && waiting[0].due <= world.now(),
    run: () => waiting.shift()?.run(),
  });
  function start(run: () => void, ms: number): FakeTimer {
    const timer: FakeTimer = { run, due: world.now() + ms, unref: () => timer };
    waiting.push(timer);
    waiting.sort((one, other) => one.due - other.due);
    return timer;
  }
  const setTimeout = (run: () => void, ms: number) => start(run, Math.max(ms, 1));
  const functions = {
    setTimeout,
    setImmediate: (run: () => void) => start(run, 0),
    clearTimeout(timer: FakeTimer) {
      const index = waiting.indexOf(timer);
      if (index >= 0) waiting.splice(index, 1);
    },
  };
  const now = () => world.now();
  const replacements: readonly (readonly [object, object])[] = [
    [globalThis, functions],
    [timers, functions],
    [timersPromises, { setTimeout: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) }],
    [performance, { now }],
    [Date, { now }],
  ];
  const originals = replacements.map(([target, names]) => {
    return [target, Object.fromEntries(Object.keys(names).map((name) => [name, Reflect.get(target, name)]))] as const;
  });
  const replace = (list: typeof replacements) => {
    for (const [target, functions] of list) Object.assign(target, functions);
    syncBuiltinESMExports();
  };
  replace(replacements);
  return () => replace(originals);
}
