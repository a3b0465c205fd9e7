// The program of another process: it opens and closes ten storages, and writes where each timer was set that goes on.

import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '@animal-store/domain/ports';
import { CLOSE_LIMIT, TRIES } from './limits.ts';
import type { ExportedFunction } from './storage-under-test.ts';

const { module, name, options } = JSON.parse(process.argv[2] ?? '') as ExportedFunction;

/** That of the module and its storages: this program sets timers, too. */
const context = new AsyncLocalStorage<true>();
const timers = new Map<number, string>();
createHook({
  init: (id, type) => void (type === 'Timeout' && context.getStore() && timers.set(id, `${new Error().stack}`)),
  destroy: (id) => void timers.delete(id),
}).enable();

/** Creates a pet. On a busy machine opening a storage may take longer than a call may. */
async function created({ pets }: Storage): Promise<void> {
  for (let left = TRIES; ; left -= 1)
    try {
      return void (await pets.add({ name: 'Rex', categoryId: 7n }));
    } catch (failure) {
      if (left === 0) throw failure;
    }
}

await context.run(true, async () => {
  for (let count = 0; count < 10; count += 1) {
    const storage = await (await import(module))[name](options);
    await created(storage);
    await storage.close();
  }
});
// What still ran when `close` returned may set one now.
await sleep(300);
// The end of that timer is told later than it ends.
await nextTurn();

/** Whether a stack begins in code that is no dependency of the adapter, except for packages of Animal Store. */
function isOfAdapter(stack: string): boolean {
  const [, , ...frames] = stack.split('\n');
  const caller = frames.find((frame) => !/\(node:|at node:/.test(frame)) ?? '';
  return caller !== '' && !/node_modules[\\/](?!\.pnpm|@animal-store)/.test(caller);
}

const ofAdapter = [...timers.values()].filter(isOfAdapter);
// A driver may have some of its own.
const end = performance.now() + CLOSE_LIMIT;
while (ofAdapter.length === 0 && timers.size >= 10 && performance.now() < end) await sleep(20);
const left = ofAdapter.length > 0 || timers.size < 10 ? ofAdapter : [...timers.values()];
console.log(JSON.stringify(left));
