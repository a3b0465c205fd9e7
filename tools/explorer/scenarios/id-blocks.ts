import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// Ids in blocks from a counter that another process uses, too. The response to a reservation may be lost. Ids are
// unique and ascend for each caller; none is from a block that was discarded, or reserved a second ago or earlier.

const BLOCKS = 'packages/adapter-kit/src/id-blocks.ts';

interface Modules {
  createIdBlocks(options: { reserve(count: number): Promise<bigint>; clock(): number }): {
    take(count: number): Promise<readonly bigint[]>;
    discard(): void;
  };
}

interface Sizes {
  /** How many ids each call of each caller takes. */
  readonly calls: readonly (readonly number[])[];
  readonly canFail?: boolean;
  readonly discards?: number;
}

const scenario =
  ({ calls, canFail = true, discards = 1 }: Sizes) =>
  ({ createIdBlocks }: Modules) =>
  (world: World) => {
    const shared = world.shared({ counter: 0 });
    /** The blocks that this process has received. */
    const blocks: { readonly first: bigint; readonly last: bigint; readonly at: number }[] = [];
    const handedOut = new Set<bigint>();
    /** The last id that was reserved when blocks were discarded. */
    let discarded = 0n;
    /** The ids of each call, in the order of the calls. */
    const taken: bigint[][] = [];

    const ids = createIdBlocks({
      clock: () => world.now(),
      async reserve(count) {
        const done = () => {
          shared.counter += count;
          return shared.counter;
        };
        const lost = (): number => {
          done();
          throw new Error('the response was lost');
        };
        const run = canFail ? { done, 'response lost': lost } : done;
        const last = BigInt(await world.command('reserve', { run }));
        blocks.push({ first: last - BigInt(count) + 1n, last, at: world.now() });
        return last;
      },
    });

    for (const [index, counts] of calls.entries()) {
      let previous = 0n;
      const take = (count: number) =>
        async function take(): Promise<void> {
          const reserved = discarded;
          const own: bigint[] = [];
          taken.push(own);
          for (const id of await ids.take(count).catch(() => [])) {
            const block = blocks.find(({ first, last }) => first <= id && id <= last);
            if (block === undefined) throw new Error(`${id} was not reserved`);
            if (handedOut.has(id)) throw new Error(`${id} twice`);
            if (id <= previous) throw new Error(`${id} after ${previous}`);
            if (id <= reserved) throw new Error(`${id} was reserved before blocks were discarded`);
            if (world.now() - block.at >= 1_000) throw new Error(`${id} from a block that has expired`);
            handedOut.add(id);
            own.push(id);
            previous = id;
          }
        };
      world.client(`caller ${index + 1}`, counts.map(take));
    }
    world.finally(() => {
      const inOrderOfCalls = taken.flat();
      const ascending = inOrderOfCalls.toSorted((one, other) => Number(one - other));
      if (inOrderOfCalls.join() !== ascending.join())
        throw new Error(`a call got ids below an earlier one's: ${inOrderOfCalls}`);
    });
    world.event('discard', {
      times: discards,
      may: true,
      process: 'main',
      run: () => {
        ids.discard();
        discarded = BigInt(shared.counter);
      },
    });
    world.event('another process reserves', {
      may: true,
      run: () => {
        shared.counter += 2;
      },
    });
    world.pass(1_000);
  };

const trialOf = (title: string, sizes: Sizes, options: TrialOptions) =>
  trial<Modules>(title, [BLOCKS], scenario(sizes), { samples: 200, ...options });

await trialOf(
  '2 ids for 2 callers, a discard, 1 s',
  { calls: [[1], [1]] },
  {
    errors: [
      ['a block begins one id too early', BLOCKS, 'first = last - BigInt(size) + 1n', 'first = last - BigInt(size)'],
      ['one more id after a discard', BLOCKS, 'last = next - 1n', 'last = next'],
    ],
  },
);
await trialOf(
  '3 ids for 2 callers, a discard, 1 s',
  { calls: [[1, 1], [1]] },
  {
    errors: [
      ['ids of an expired block are handed out', BLOCKS, 'next > last || clock() >= expiresAt', 'next > last'],
      ['a block that is being reserved is not discarded', BLOCKS, 'if (discards !== discardsBefore) return;', ''],
    ],
    isLarge: true,
  },
);
await trialOf(
  '4 ids in calls of 1 and 3, no failure',
  { calls: [[1], [3]], canFail: false, discards: 0 },
  {
    errors: [['a later call is served before an earlier one', BLOCKS, 'waiting.push({', 'waiting.unshift({']],
  },
);
