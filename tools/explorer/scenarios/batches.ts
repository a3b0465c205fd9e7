import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// Batches of calls, and separate ones for each key. No call joins a batch that began before it, each call has its own result
// or error, and no call waits while a batch may begin: another one has ended, or has taken `MAX_WAIT`. A batch may begin in
// the next turn of the event loop, but not if calls have come alone. A batch fails, or its first item alone.

const BATCHES = 'packages/adapter-kit/src/batches.ts';
const KEYED = 'packages/adapter-kit/src/keyed-batches.ts';

interface Policy {
  readonly parallel: number;
  readonly maxItems: number;
  readonly maxWeight?: number;
  readonly maxWaiting?: number;
}

type Work = (items: readonly string[]) => Promise<(item: string) => string>;
type Batches = (item: string) => Promise<string>;
type Options = Policy & { readonly maxWait: number; weigh(item: string): number };

interface Modules {
  createBatches(work: Work, options: Options): Batches;
  createKeyedBatches(keyOf: (item: string) => string, work: Work, options: Options): Batches;
}

interface Sizes {
  /** The items of each client: a letter that is its key, and a digit that is its weight. Each item occurs once. */
  readonly clients: readonly (readonly string[])[];
  readonly policy: Policy;
  readonly isKeyed?: boolean;
  /** How often a quarter of a second may pass. */
  readonly quarters?: number;
  readonly failures?: number;
}

const MAX_WAIT = 500;

const weightOf = (items: readonly string[]) => items.reduce((sum, item) => sum + Number(item[1]), 0);

const scenario =
  ({ clients, policy, isKeyed = false, quarters = 0, failures = 1 }: Sizes) =>
  ({ createBatches, createKeyedBatches }: Modules) =>
  (world: World) => {
    const { parallel, maxItems, maxWeight = 10, maxWaiting = 10 } = policy;
    const shared = world.shared({ failures: 0 });
    const keyOf = (item: string) => (isKeyed ? (item[0] as string) : '');
    const begun: { readonly key: string; readonly at: number; readonly size: number; hasEnded: boolean }[] = [];
    let waiting: readonly string[] = [];
    /** Which batch has an item, and what its call must get. */
    const batchOf = new Map<string, number>();
    const ends = new Map<string, string>();

    const waitingOf = (key: string) => waiting.filter((item) => keyOf(item) === key);
    const slotsOf = (key: string) => begun.filter((batch) => batch.key === key && !batch.hasEnded);

    const work: Work = async (items) => {
      const key = keyOf(items[0] ?? '');
      const inTime = slotsOf(key).filter(({ at }) => world.now() - at < MAX_WAIT);
      const next = waitingOf(key).slice(0, items.length);
      if (inTime.length >= parallel) throw reported(`more than ${parallel} batches in flight`);
      if (items.length === 0 || next.join() !== items.join()) throw reported(`a batch of ${items} instead of ${next}`);
      if (items.length > maxItems) throw reported(`a batch of ${items}`);
      if (items.length > 1 && weightOf(items) > maxWeight) throw reported(`${items} are too heavy`);
      waiting = waiting.filter((item) => !items.includes(item));
      const batch = { key, at: world.now(), size: items.length, hasEnded: false };
      begun.push(batch);
      for (const item of items) batchOf.set(item, begun.length);

      const done = () => '';
      const failing = (who: string) => () => {
        shared.failures += 1;
        return who;
      };
      const run =
        shared.failures === failures ? { done } : { done, fails: failing('all'), 'an item fails': failing('first') };
      const failed = await world.command(`batch of ${items}`, { run });
      batch.hasEnded = true;
      for (const item of items) {
        const hasFailed = failed === 'all' || (failed === 'first' && item === items[0]);
        ends.set(item, hasFailed ? `error of ${failed === 'all' ? items : item}` : `result of ${item}`);
      }
      if (failed === 'all') throw new Error(`error of ${items}`);
      return (item) => {
        const end = ends.get(item) ?? 'error: no batch has this item';
        if (end.startsWith('error')) throw new Error(end);
        return end;
      };
    };
    /** A failure of the run, even if the module handles the error. */
    const reported = (message: string) => {
      world.failure ??= new Error(message);
      return new Error(message);
    };

    const options: Options = { ...policy, maxWait: MAX_WAIT, weigh: (item) => weightOf([item]) };
    const add = isKeyed ? createKeyedBatches(keyOf, work, options) : createBatches(work, options);

    const calling = (item: string) =>
      async function call(): Promise<void> {
        const earlier = begun.length;
        const isFull = waitingOf(keyOf(item)).length >= maxWaiting;
        if (!isFull) waiting = [...waiting, item];
        const end = await add(item).catch((error: Error & { code?: string }) => error.code ?? error.message);
        const expected = isFull ? 'storage_unavailable' : ends.get(item);
        if (end !== expected) throw new Error(`${item} got: ${end}`);
        if ((batchOf.get(item) ?? Number.POSITIVE_INFINITY) <= earlier)
          throw new Error(`${item} joined a batch in flight`);
      };
    for (const [index, items] of clients.entries()) world.client(`caller ${index + 1}`, items.map(calling));
    // No timer fires late.
    const isPunctual = () => [...world.timers.values()].every(({ due }) => world.now() + 250 <= due);
    world.pass(250, quarters, isPunctual);
    world.always(() => {
      const isBeginning = [...world.timers.values()].some(({ due }) => due === world.now());
      const isAlone = begun.every(({ size }) => size === 1);
      const late = waiting.find(
        (item) => slotsOf(keyOf(item)).filter(({ at }) => world.now() - at <= MAX_WAIT).length < parallel,
      );
      if (late !== undefined && (isAlone || !isBeginning)) throw new Error(`${late} waits although a batch may begin`);
      const limits = [...world.timers.values()].filter(({ due }) => due > world.now());
      if (limits.length > begun.filter(({ hasEnded }) => !hasEnded).length) {
        throw new Error('a timer outlives its batch');
      }
    });
  };

const trialOf = (title: string, sizes: Sizes, options: TrialOptions = {}) =>
  trial<Modules>(title, [BATCHES, KEYED], scenario(sizes), { samples: 100, ...options });

await trialOf(
  '4 calls, 2 items in a batch',
  { clients: [['a1'], ['b1'], ['c1'], ['d1']], policy: { parallel: 1, maxItems: 2 } },
  {
    errors: [
      [
        'a call joins the batch in flight',
        BATCHES,
        'waiting = waiting.slice(size);',
        'waiting = waiting.slice(size);\n    waiting.push = (...calls) => batch.push(...calls);',
      ],
      [
        'an item that fails fails those behind it',
        BATCHES,
        'reject(reason);\n      }\n    }\n  } catch',
        'throw reason;\n      }\n    }\n  } catch',
      ],
      ['a batch has one item too many', BATCHES, 'size < maxItems', 'size <= maxItems'],
      ['calls that come alone wait', BATCHES, 'if (lastSize === 1) start();', 'if (lastSize === 0) start();'],
    ],
  },
);
await trialOf('4 calls, two batches at a time', {
  clients: [['a1', 'b1'], ['c1'], ['d1']],
  policy: { parallel: 2, maxItems: 2 },
  failures: 0,
});
await trialOf(
  '3 calls, 0.75 s',
  { clients: [['a1'], ['b1'], ['c1']], policy: { parallel: 1, maxItems: 1 }, quarters: 3, failures: 0 },
  {
    errors: [
      ['a batch that takes too long frees its slot twice', BATCHES, 'if (!holdsSlot) return;', ''],
      [
        'a batch that takes too long keeps its slot',
        BATCHES,
        'setTimeout(releaseSlot, maxWait)',
        'setTimeout(() => {}, maxWait)',
      ],
      ['the timer of a batch in time is not cleared', BATCHES, 'clearTimeout(timer);', ''],
    ],
  },
);
await trialOf(
  '4 calls of different weights, two may wait',
  {
    clients: [['a1'], ['b3'], ['c1'], ['d2']],
    policy: { parallel: 1, maxItems: 5, maxWeight: 2, maxWaiting: 2 },
    failures: 0,
  },
  {
    errors: [
      [
        'an item that is too heavy takes another one along',
        BATCHES,
        'weight > maxWeight && size > 0',
        'weight > maxWeight && size > 1',
      ],
      ['one call more than may waits', BATCHES, 'waiting.length >= maxWaiting', 'waiting.length > maxWaiting'],
    ],
  },
);
await trialOf(
  '5 calls of two keys',
  { clients: [['a1', 'b1'], ['a2', 'b2'], ['a3']], policy: { parallel: 1, maxItems: 2 }, isKeyed: true, failures: 0 },
  {
    errors: [
      ['keys share their batches', KEYED, 'const key = keyOf(item);', "const key = '';"],
      [
        'a key is dropped while calls of it wait',
        KEYED,
        'if (batches.callers === 0) keys.delete(key);',
        'keys.delete(key);',
      ],
    ],
  },
);
