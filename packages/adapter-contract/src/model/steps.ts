// The steps of a sequence: calls of the ports, by storages, and what operators and networks do meanwhile.

import { LIMITS } from '@animal-store/domain';
import * as fc from 'fast-check';
import { TYPE_ERRORS } from '../calls.ts';
import { CALLERS } from '../limits.ts';
import type { StorageUnderTest } from '../storage-under-test.ts';
import type { TcpProxy } from '../tcp-proxy.ts';
import { type Method, OWN } from './calls.ts';
import { withLog } from './log.ts';
import { beginSequence, type Restored, type Sequence } from './sequence.ts';

/** Of the sequences: another one makes others. */
export const SEED = 63;
export const SEQUENCES = 18;
const MAX_STEPS = 80;

/** How late a response is, in milliseconds: a call has time for several. */
const DELAY = 100;

type Step = (sequence: Sequence) => Promise<unknown>;

export interface Failure {
  readonly error: Error;
  /** The last one has failed. */
  readonly steps: readonly Step[];
}

/** How often each call is made. */
export const WEIGHTS = {
  'pets.add': 6,
  'pets.find': 3,
  'pets.list': 4,
  'archive.read': 2,
  'archive.lastId': 1,
  'keys.add': 3,
  'keys.find': 3,
  'keys.list': 2,
  'keys.recordUse': 2,
  'keys.revoke': 1,
} satisfies Record<Method, number>;

/** The calls of the ports, by storages, and what operators and networks do meanwhile. */
function stepsOf<Place>(adapter: StorageUnderTest<Place>): fc.Arbitrary<Step> {
  const { operator: { deletePet, setCounterBack, expire } = {}, interruptions, proxyOf } = adapter;
  const outages = Object.entries(interruptions === 'not tested' ? {} : interruptions).filter(
    ([, { leaves, line }]) => !line && (leaves === 'nothing' || leaves === 'reads'),
  );
  const actor = fc.nat(3);
  const index = fc.nat(4);
  const callOf = (port: RegExp) => {
    const weights = Object.entries(WEIGHTS).filter(([name]) => port.test(name));
    const names = weights.map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as keyof typeof WEIGHTS) }));
    return fc.record({
      name: fc.oneof(...names),
      actor,
      index,
      variant: fc.nat(1),
      limit: fc.constantFrom<number>(1, 2, 3, LIMITS.page.maxRead),
    });
  };
  const call = callOf(/./);
  type Planned = typeof call extends fc.Arbitrary<infer Value> ? Value : never;
  const lanesOf = (sequence: Sequence, lanes: readonly (readonly Planned[])[]) =>
    lanes.map((lane) =>
      lane.map(({ name, actor, index, variant, limit }) => ({
        actor: sequence.actorAt(actor),
        call: sequence.calls[name](index, variant, limit),
      })),
    );
  const one = call.map((planned): Planned[][] => [[planned]]);
  const many = (each: typeof call) =>
    fc.array(fc.array(each, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 3 });
  /** About the same pet or API key. */
  const focused = fc
    .tuple(index, fc.constantFrom(1, LIMITS.page.maxRead), fc.oneof(many(callOf(/pets|archive/)), many(callOf(/keys/))))
    .map(([index, limit, lanes]) => lanes.map((lane) => lane.map((planned) => ({ ...planned, index, limit }))));
  const lanes = fc.oneof(many(call), focused, focused);
  const restore = fc.record({
    actor: fc.nat(2),
    batch: fc.nat(1),
    gap: fc.constantFrom(1n, 2n, 300n, 5n * 10n ** 9n),
    pets: fc.array(fc.tuple(index, fc.nat(2), fc.boolean()) as fc.Arbitrary<Restored>, { minLength: 1, maxLength: 6 }),
  });
  const breaks = fc.record({
    chunks: fc.constantFrom(0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9),
    isOne: fc.boolean(),
  });

  /** Breaks connections after so many chunks of calls. New ones work at once. */
  async function disturb(
    { place, log }: Sequence,
    { chunks, isOne }: { chunks: number; isOne: boolean },
    begin: () => Promise<unknown>,
  ): Promise<void> {
    const proxy = proxyOf?.(place as Place) as TcpProxy;
    log.push(`after ${chunks} chunks of what follows, ${isOne ? 'one connection breaks' : 'all connections break'}:`);
    const over = new AbortController();
    const amid = proxy.afterChunks(chunks, over.signal).catch(() => null);
    const ended = begin();
    const reset = await Promise.race([amid, ended.catch(() => null)]);
    over.abort();
    if (isOne && typeof reset === 'function') reset();
    if (!isOne) {
      proxy.cut();
      proxy.pass();
    }
    await ended;
  }

  /** Runs the first lane, and the others after so many chunks of it, while its response is on its way. */
  async function runInFlight(
    { place, open, run }: Sequence,
    lanes: Parameters<Sequence['run']>[0],
    chunks: number,
  ): Promise<void> {
    const proxy = proxyOf?.(place as Place);
    await open(lanes);
    if (proxy === undefined) return void (await run(lanes));
    proxy.delayResponses(DELAY);
    const over = new AbortController();
    const sent = proxy.afterChunks(chunks, over.signal).catch(() => {});
    // A read may take fewer.
    await run(lanes, (ended) => Promise.race([sent, ended]).then(() => proxy.delayResponses(0)));
    over.abort();
  }

  /** What a client does whose call has failed. */
  async function repeat(sequence: Sequence, planned: readonly (readonly Planned[])[]): Promise<void> {
    const all = { index: 4, variant: 0, limit: LIMITS.page.maxRead } as const;
    const reads = (['pets.list', 'archive.read', 'keys.list'] as const).map((name, actor) => ({ name, actor, ...all }));
    await sequence.run(lanesOf(sequence, [[...planned.flat(), ...reads]]));
  }

  const ways: { weight: number; arbitrary: fc.Arbitrary<Step> }[] = [
    {
      weight: 60,
      arbitrary: one.map((planned) => (sequence) => sequence.run(lanesOf(sequence, planned))),
    },
    {
      weight: 24,
      arbitrary: fc
        .oneof(lanes, focused, focused)
        .map((planned) => (sequence) => sequence.run(lanesOf(sequence, planned))),
    },
    { weight: 6, arbitrary: actor.map((index) => (sequence) => sequence.close(sequence.actorAt(index))) },
    {
      weight: 3,
      arbitrary: restore.map(
        (given) => (sequence) => sequence.restore({ ...given, actor: sequence.actorAt(given.actor) }),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.nat(2), fc.constantFrom(-5n, 1n, 5n, 300n)).map(
        ([actor, gap]) =>
          (sequence) =>
            sequence.skipIds(sequence.actorAt(actor), gap),
      ),
    },
  ];
  const near = (port: RegExp) => fc.tuple(callOf(port), callOf(port));
  // More calls of one kind than a pool has connections, and one of another kind, about the same.
  ways.push({
    weight: 6,
    arbitrary: fc
      .tuple(fc.oneof(near(/pets|archive/), near(/keys/)), fc.boolean())
      .map(([[one, other], isSpread]) => async (sequence) => {
        const twenty = Array.from({ length: CALLERS }, (_, number) => [
          { ...one, variant: number % 2, actor: isSpread ? number % 4 : one.actor },
        ]);
        await sequence.run(lanesOf(sequence, [...twenty, [{ ...other, index: one.index }]]));
      }),
  });
  const whole = call.map(
    (planned): Planned => ({ ...planned, name: 'pets.list', index: 4, limit: LIMITS.page.maxRead }),
  );
  const addTo = (page: Planned): Planned => ({ ...page, name: 'pets.add' });
  // More pets than a page has.
  ways.push({
    weight: 1,
    arbitrary: whole.map((page) => async (sequence) => {
      const many = Array.from({ length: 30 }, () => addTo(page));
      await sequence.run(lanesOf(sequence, [many, many, many, many]));
      await sequence.run(lanesOf(sequence, [[page, { ...page, name: 'archive.read' }]]));
    }),
  });
  // An id with more digits than those before.
  ways.push({
    weight: 1,
    arbitrary: fc.tuple(whole, fc.constantFrom(10n ** 9n, 10n ** 12n)).map(([page, gap]) => async (sequence) => {
      await sequence.run(lanesOf(sequence, [[addTo(page)]]));
      await sequence.skipIds(sequence.actorAt(page.actor % 3), gap);
      await sequence.run(lanesOf(sequence, [[addTo(page), page]]));
    }),
  });
  const missing = fc.constantFrom(...TYPE_ERRORS);
  // A wrong argument beside right ones.
  ways.push({
    weight: 3,
    arbitrary: fc.tuple(missing, actor, many(call)).map(([name, number, planned]) => async (sequence) => {
      const wrong = [{ actor: sequence.actorAt(number % 3), call: sequence.defect(name) }];
      await sequence.run([...lanesOf(sequence, planned), wrong]);
    }),
  });
  if (deletePet)
    ways.push({
      weight: 8,
      arbitrary: fc.tuple(fc.nat(3), actor).map(([index, number]) => async (sequence) => {
        const find = [[{ actor: sequence.actorAt(number), call: sequence.calls['pets.find'](index) }]];
        await sequence.run(find);
        await sequence.deletePet(index);
        await sequence.run(find);
        // Perhaps under the idempotency key of the pet that was deleted.
        const again = [0, 1, 2].map((key) => ({
          actor: sequence.actorAt(number),
          call: sequence.calls['pets.add'](key, 0),
        }));
        await sequence.run([again]);
      }),
    });
  if (setCounterBack) ways.push({ weight: 3, arbitrary: fc.constant((sequence) => sequence.setCounterBack()) });
  if (expire)
    ways.push({
      weight: 1,
      arbitrary: fc.constant(async ({ place, log }) => {
        log.push('ten years pass');
        await expire(place as Place);
      }),
    });
  const change = callOf(/^keys.(recordUse|revoke)/);
  // What a storage has read, or reads, another one changes.
  ways.push({
    weight: 24,
    arbitrary: fc
      .tuple(
        fc.oneof(
          fc.tuple(callOf(/^pets.(find|list)/), callOf(/^pets.add/), fc.constant(4)),
          fc.tuple(callOf(/^keys.(find|list)/), callOf(/^keys.add/), index),
          fc.tuple(callOf(/^keys.(find|list)/), change, index),
        ),
        fc.boolean(),
      )
      .map(([[read, write, index], isReopened]) => async (sequence) => {
        const again = { ...read, index };
        if (write.name !== 'pets.add' && write.name !== 'keys.add')
          await sequence.run(lanesOf(sequence, [[{ ...write, index, name: 'keys.add' }]]));
        const [first = [], others = []] = lanesOf(sequence, [[again], [{ ...write, index }, again]]);
        if (!isReopened) return runInFlight(sequence, [first, others], read.index > 2 ? 4 : 2);
        await sequence.run([first]);
        await sequence.close(sequence.actorAt(read.actor));
        await sequence.run([others]);
      }),
  });
  ways.push({
    weight: 16,
    arbitrary: fc
      .tuple(change, change, callOf(/^keys.add/), fc.oneof(index, fc.integer({ min: OWN, max: 1_000_000 })))
      .map(([one, other, add, index]) => async (sequence) => {
        // The record of a key that is unknown as yet, and is then added.
        const before = [
          { ...one, index },
          { ...add, index, actor: one.actor },
          { ...add, index, name: 'keys.find' as const },
        ];
        await sequence.run(lanesOf(sequence, [before]));
        await sequence.run(lanesOf(sequence, [[{ ...one, index }], [{ ...other, index }]]));
      }),
  });
  if (proxyOf) {
    ways.push({
      weight: 10,
      arbitrary: fc
        .tuple(fc.oneof(one, lanes, many(callOf(/pets.add/))), breaks)
        .map(([planned, way]) => async (sequence) => {
          const lanes = lanesOf(sequence, planned);
          await sequence.open(lanes);
          await sequence.disturbed(() => disturb(sequence, way, () => sequence.run(lanes)));
          await repeat(sequence, planned);
        }),
    });
    ways.push({
      weight: 4,
      arbitrary: fc.tuple(restore, breaks).map(([given, way]) => async (sequence) => {
        const actor = sequence.actorAt(given.actor);
        await sequence.disturbed(() => sequence.restore({ ...given, actor }, (begin) => disturb(sequence, way, begin)));
        await repeat(sequence, []);
        await sequence.restore({ ...given, actor: sequence.actorAt(2 - given.actor) });
      }),
    });
  }
  if (outages.length > 0)
    ways.push({
      weight: 1,
      arbitrary: fc.tuple(fc.nat(outages.length - 1), lanes).map(([number, planned]) => async (sequence) => {
        const [name, outage] = outages[number] as (typeof outages)[number];
        const place = sequence.place as Place;
        const lanes = lanesOf(sequence, planned);
        await sequence.open(lanes);
        await sequence.disturbed(async () => {
          sequence.log.push(`the outage "${name}" begins`);
          await outage.begin(place);
          await sequence.run(lanes).finally(() => outage.end(place));
          sequence.log.push('the outage ends');
        });
        await repeat(sequence, planned);
      }),
    });
  return fc.oneof(...ways);
}

/** Steps at a new place, perhaps with another process. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly hasOtherProcess: boolean;
}

/** The same plans for each seed. */
export function plansOf<Place>(adapter: StorageUnderTest<Place>, { seed = SEED, numRuns = SEQUENCES } = {}): Plan[] {
  const steps = fc.noBias(fc.array(stepsOf(adapter), { maxLength: MAX_STEPS, size: 'max' }));
  // A process takes long to start.
  const hasOtherProcess = fc.nat(2).map((chance) => chance === 2 && adapter.inAnotherProcess !== undefined);
  return fc.sample(fc.record({ steps, hasOtherProcess }), { seed, numRuns });
}

/** The failure of a plan, with the steps until then, and how many calls were made. */
export async function failureOfPlan<Place>(
  adapter: StorageUnderTest<Place>,
  { steps, hasOtherProcess }: Plan,
): Promise<{ readonly failure: Failure | null; readonly count: number }> {
  const sequence = await beginSequence(adapter, hasOtherProcess);
  let done = 0;
  try {
    for (; done < steps.length; done += 1) await (steps[done] as Step)(sequence);
    return { failure: null, count: sequence.count() };
  } catch (error) {
    return {
      failure: { error: withLog(error, sequence.log), steps: steps.slice(0, done + 1) },
      count: sequence.count(),
    };
  } finally {
    await sequence.end();
  }
}
