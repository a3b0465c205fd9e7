// The program of another process: it opens a storage as its argument says, and runs calls on it.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '@animal-store/domain';
import type { Storage } from '@animal-store/domain/ports';
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

const [, , argument = '', newPet] = process.argv;
const { module, name, options } = JSON.parse(argument) as ExportedFunction;
const storage: Storage = await (await import(module))[name](options);

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

if (newPet === undefined) {
  process.on('message', async ({ id, port, method, given }: Call) => {
    given.forEach(see);
    const end: End = await Reflect.get(
      { ...storage, memory }[port],
      method,
    )(...given).then(
      (result: unknown) => ({ id, result }),
      (error: unknown) => ({ id, error: String(error), isUnavailable: DomainError.is(error) }),
    );
    see(end.result);
    process.send?.(end);
  });
  process.on('disconnect', () => storage.close());
  process.send?.({ id: 0 } satisfies End);
} else {
  console.log('opened');
  const creation = storage.pets.add({ name: newPet, categoryId: 7n });
  console.log(
    await creation.then(
      (created) => created?.pet.name,
      (error) => error.code ?? error,
    ),
  );
  const calls = Array.from({ length: 50 }, () => storage.keys.recordUse(newPet, 1).catch(() => {}));
  await storage.close();
  await Promise.all(calls);
}
