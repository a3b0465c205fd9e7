// The program of another process: it opens a storage as its first argument says, and does what the second one names.

import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@animal-store/domain';
import type { Storage } from '@animal-store/domain/ports';
import { patiently } from './calls.ts';
import { CLOSE_LIMIT } from './limits.ts';
import type { ExportedFunction } from './storage-under-test.ts';

/** A call of a port. */
export interface Call {
  readonly id: number;
  readonly port: 'pets' | 'keys' | 'memory';
  readonly method: string;
  readonly given: readonly unknown[];
}

/** How a call has ended. */
export interface End {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
  readonly isUnavailable?: boolean;
}

const [, , argument = '', task] = process.argv;
const { module, name, options } = JSON.parse(argument) as ExportedFunction;
const open = async (): Promise<Storage> => (await import(module))[name](options);
const send = (message: unknown) => void process.send?.(message);
const PET = { name: 'Rex', categoryId: 7n };

const TASKS = {
  /** Runs the calls that messages describe, until the parent disconnects. */
  async serve() {
    const storage = await open();
    /** The arguments and results of all calls. */
    const seen: WeakRef<object>[] = [];
    const see = (value: unknown) => void (typeof value === 'object' && value !== null && seen.push(new WeakRef(value)));
    const memory = {
      /** How many of them are still in memory. */
      async kept() {
        // A job keeps the targets alive that it has looked at.
        await nextTurn();
        globalThis.gc?.();
        return seen.filter((reference) => reference.deref() !== undefined).length;
      },
    };
    process.on('message', async ({ id, port, method, given }: Call) => {
      given.forEach(see);
      const end: End = await Reflect.get(
        port === 'memory' ? memory : storage[port],
        method,
      )(...given).then(
        (result: unknown) => ({ id, result }),
        (error: unknown) => ({ id, error: String(error), isUnavailable: DomainError.is(error) }),
      );
      see(end.result);
      send(end);
    });
    process.on('disconnect', () => storage.close());
    send('opened');
  },

  /** Creates a pet, and closes the storage during other calls. Sends how the creation has ended. */
  async create() {
    const storage = await open();
    send('opened');
    const creation = storage.pets.add(PET);
    send(
      await creation.then(
        (created) => created?.pet.name,
        (error) => error.code ?? String(error),
      ),
    );
    const calls = Array.from({ length: 50 }, () => storage.keys.recordUse('0123456789abcdef', 1).catch(() => {}));
    await storage.close();
    await Promise.all(calls);
  },

  /** Opens and closes ten storages. Sends where each timer was set that goes on: the stacks. */
  async leave() {
    /** That of the module and its storages: this program sets timers, too. */
    const context = new AsyncLocalStorage<true>();
    const timers = new Map<number, string>();
    createHook({
      init: (id, type) => void (type === 'Timeout' && context.getStore() && timers.set(id, `${new Error().stack}`)),
      destroy: (id) => void timers.delete(id),
    }).enable();
    await context.run(true, async () => {
      for (let count = 0; count < 10; count += 1) {
        const storage = await open();
        await patiently(() => storage.pets.add(PET));
        await storage.close();
      }
    });
    send(`closed, beside ${process.getActiveResourcesInfo().join(', ')}`);
    // What still ran when `close` returned may set one now.
    await sleep(300);
    // The end of that timer is told later than it ends.
    await nextTurn();
    const left = new Set([...timers.values()].filter(isOfAdapter));
    // A driver may have some of its own, but not one for each storage.
    const end = performance.now() + CLOSE_LIMIT;
    while (timers.size >= 10 && performance.now() < end) await sleep(20);
    if (timers.size >= 10) for (const stack of timers.values()) left.add(stack);
    send([...left].join('\n'));
  },
};

export type Task = keyof typeof TASKS;

/** Whether a stack begins in code that is no dependency of the adapter, except for packages of Animal Store. */
function isOfAdapter(stack: string): boolean {
  const [, , ...frames] = stack.split('\n');
  const caller = frames.find((frame) => !/\(node:|at node:/.test(frame)) ?? '';
  return caller !== '' && !/node_modules[\\/](?!\.pnpm|@animal-store)/.test(caller);
}

await TASKS[task as Task]();
