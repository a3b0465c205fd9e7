// The steps of a sequence: calls of the ports, by storages, and what operators and networks do meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@animal-store/domain';
import * as fc from 'fast-check';
import { CALLERS } from '../limits.ts';
import { TYPE_ERRORS } from '../methods.ts';
import { isOutage, type StorageUnderTest } from '../storage-under-test.ts';
import { amid, type TcpProxy } from '../tcp-proxy.ts';
import { type Method, OWN } from './calls.ts';
import { withLog } from './log.ts';
import { type Actor, beginSequence, type Restored, type Sequence } from './sequence.ts';

const MAX_STEPS = 80;

/** How late a response is, in milliseconds: a call has time for several. */
const DELAY = 100;

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
  'keys.revoke': 2,
} satisfies Record<Method, number>;

/** A call of the ports, by numbers of its storage and its arguments. */
interface Planned {
  readonly name: Method;
  readonly actor: number;
  readonly index: number;
  readonly variant: number;
  readonly limit: number;
}

/** Calls of different lanes are made at once, those of one lane one after the other. */
type Lanes = readonly (readonly Planned[])[];

/** With these numbers a creation has no idempotency key, and a read begins at the first id. */
const WHOLE = { index: 4, variant: 0, limit: LIMITS.page.maxRead } as const;

const actor = fc.nat(3);
const index = fc.nat(4);
/** Of an API key that no call has named. */
const unknown = fc.integer({ min: OWN, max: 1_000_000 });

function callOf(names: RegExp): fc.Arbitrary<Planned> {
  const weights = Object.entries(WEIGHTS).filter(([name]) => names.test(name));
  return fc.record({
    name: fc.oneof(...weights.map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Method) }))),
    ...{ actor, index, variant: fc.nat(1), limit: fc.constantFrom(1, 2, 3, LIMITS.page.maxRead) },
  });
}

const call = callOf(/./);
const one = call.map((planned): Lanes => [[planned]]);
const several = (each: fc.Arbitrary<Planned>): fc.Arbitrary<Lanes> =>
  fc.array(fc.array(each, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 3 });

/** Calls about the same pet or API key. */
const focused = fc
  .tuple(
    ...([index, fc.constantFrom(1, LIMITS.page.maxRead)] as const),
    fc.oneof(several(callOf(/pets|archive/)), several(callOf(/keys/))),
  )
  .map(([index, limit, lanes]): Lanes => lanes.map((lane) => lane.map((planned) => ({ ...planned, index, limit }))));
const lanes = fc.oneof({ weight: 1, arbitrary: several(call) }, { weight: 4, arbitrary: focused });

const near = (names: RegExp) => fc.tuple(callOf(names), callOf(names));
/** More calls of one kind than a pool has connections, and one of another kind, about the same. */
const twenty = fc
  .tuple(fc.oneof(near(/pets|archive/), near(/keys/)), fc.boolean())
  .map(
    ([[one, other], isSpread]): Lanes => [
      ...Array.from({ length: CALLERS }, (_, number) => [
        { ...one, variant: number % 2, actor: isSpread ? number % 4 : one.actor },
      ]),
      [{ ...other, index: one.index }],
    ],
  );

/** What a storage reads, and what another one changes then. */
const changed = fc.oneof(
  { weight: 1, arbitrary: fc.tuple(callOf(/^pets.(find|list)/), callOf(/^pets.add/), fc.constant(WHOLE.index)) },
  { weight: 2, arbitrary: fc.tuple(callOf(/^keys.(find|list)/), callOf(/^keys.(add|recordUse|revoke)/), unknown) },
);

const change = callOf(/^keys.(recordUse|revoke)/);
const restores = fc.record({
  actor: fc.nat(2),
  batch: fc.nat(1),
  gap: fc.constantFrom(1n, 2n, 300n, 5n * 10n ** 9n),
  pets: fc.array(fc.tuple(index, fc.nat(2), fc.boolean()) as fc.Arbitrary<Restored>, { minLength: 1, maxLength: 6 }),
});
const breaks = fc.record({ chunks: fc.constantFrom(0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9), isOne: fc.boolean() });

const lanesOf = (sequence: Sequence, lanes: Lanes) =>
  lanes.map((lane) =>
    lane.map(({ name, actor, index, variant, limit }) => ({
      actor: sequence.actorAt(actor),
      call: sequence.calls[name](index, variant, limit),
    })),
  );

const run = (sequence: Sequence, lanes: Lanes) => sequence.run(lanesOf(sequence, lanes));

/** What a client does whose calls have failed. */
const repeat = (sequence: Sequence, lanes: Lanes) =>
  run(sequence, [
    [
      ...lanes.flat(),
      ...(['pets.list', 'archive.read', 'keys.list'] as const).map((name, actor) => ({ ...WHOLE, name, actor })),
    ],
  ]);

/** Some steps at a new place, and whether another process has a part in them. */
export function plansOf<Place>(adapter: StorageUnderTest<Place>) {
  const { operator: { deletePet, setCounterBack, expire } = {}, interruptions, proxyOf, inAnotherProcess } = adapter;
  const all = Object.entries(interruptions === 'not tested' ? {} : interruptions);
  const outages = all.filter(([, each]) => isOutage(each));

  /** Breaks connections after so many chunks of calls. New ones work at once. */
  async function breakConnections(
    { place, log }: Sequence,
    { chunks, isOne }: { chunks: number; isOne: boolean },
    begin: () => Promise<unknown>,
  ): Promise<void> {
    const proxy = proxyOf?.(place as Place) as TcpProxy;
    log.push(`after ${chunks} chunks of what follows, ${isOne ? 'one connection breaks' : 'all connections break'}:`);
    await amid(proxy, chunks, begin, (reset) => {
      if (isOne) return reset?.();
      proxy.cut();
      proxy.pass();
    });
  }

  /** Runs the first lane, and the other after so many chunks of it, while its response is on its way. */
  async function runInFlight(sequence: Sequence, lanes: Lanes, chunks: number): Promise<void> {
    const [first = [], other = []] = lanesOf(sequence, lanes);
    await sequence.open([first, other]);
    const proxy = proxyOf?.(sequence.place as Place);
    proxy?.delayResponses(DELAY);
    // A read may take fewer.
    const after = Promise.race([proxy?.afterChunks(chunks), sleep(DELAY)]).then(() => proxy?.delayResponses(0));
    await sequence.run([first, other.map(({ actor, call }) => ({ actor, call: { ...call, after } }))]);
  }

  const step = <Given>(
    weight: number,
    arbitrary: fc.Arbitrary<Given>,
    work: (sequence: Sequence, given: Given) => unknown,
  ) => ({
    weight,
    arbitrary: arbitrary.map(
      (given): fc.AsyncCommand<object, Sequence> => ({
        check: () => true,
        run: async (_, sequence) => void (await work(sequence, given)),
      }),
    ),
  });

  const steps = fc.oneof(
    step(60, one, run),
    step(24, lanes, run),
    step(6, twenty, run),
    // More pets than a page has.
    step(1, call, async (sequence, given) => {
      const page: Planned = { ...given, ...WHOLE, variant: given.variant, name: 'pets.list' };
      const many = Array.from({ length: 30 }, (): Planned => ({ ...page, name: 'pets.add' }));
      await run(sequence, [many, many, many, many]);
      await run(sequence, [[page, { ...page, name: 'archive.read' }]]);
    }),
    // A wrong argument beside right ones.
    step(3, fc.tuple(fc.constantFrom(...TYPE_ERRORS), fc.nat(2), several(call)), (sequence, [name, actor, others]) =>
      sequence.run([...lanesOf(sequence, others), [{ actor: sequence.actorAt(actor), call: sequence.defect(name) }]]),
    ),
    step(24, fc.tuple(changed, fc.boolean()), async (sequence, [[given, write, index], isReopened]) => {
      const read = { ...given, index };
      if (/recordUse|revoke/.test(write.name)) await run(sequence, [[{ ...write, index, name: 'keys.add' }]]);
      const others = [{ ...write, index }, read];
      if (!isReopened) return runInFlight(sequence, [[read], others], given.index > 3 ? 4 : 2);
      await run(sequence, [[read]]);
      await sequence.close(sequence.actorAt(read.actor));
      await run(sequence, [others]);
    }),
    // A key that is unknown as yet is changed, added, and changed by two at once.
    step(16, fc.tuple(change, change, actor, unknown), async (sequence, [given, another, actor, index]) => {
      const one: Planned = { ...given, index };
      await run(sequence, [[one, { ...one, name: 'keys.add' }, { ...one, name: 'keys.find', actor }]]);
      await run(sequence, [[one], [{ ...another, index, variant: 1 - one.variant }]]);
    }),
    step(6, actor, (sequence, actor) => sequence.close(sequence.actorAt(actor))),
    step(3, restores, (sequence, given) => sequence.restore({ ...given, actor: sequence.actorAt(given.actor) })),
    step(
      2,
      fc.tuple(fc.nat(2), fc.constantFrom(-5n, 1n, 5n, 300n, 10n ** 9n, 10n ** 12n)),
      async (sequence, [actor, gap]) => {
        const add: Planned = { ...WHOLE, name: 'pets.add', actor };
        await run(sequence, [[add]]);
        await sequence.skipIds(sequence.actorAt(actor), gap);
        await run(sequence, [[add, { ...add, name: 'pets.list' }]]);
      },
    ),
    step(deletePet ? 8 : 0, fc.tuple(actor, fc.nat(3)), async (sequence, [actor, index]) => {
      const add: Planned = { ...WHOLE, name: 'pets.add', actor, index };
      const find: Planned = { ...add, name: 'pets.find', index: 0 };
      await run(sequence, [[add]]);
      await run(sequence, [[find]]);
      await sequence.deletePet();
      // Perhaps under the idempotency key of the pet that was deleted.
      await run(sequence, [[find, ...[0, 1, 2].map((index) => ({ ...add, index }))]]);
    }),
    step(setCounterBack ? 6 : 0, fc.constant(null), (sequence) => sequence.setCounterBack()),
    step(expire ? 1 : 0, fc.constant(null), (sequence) => sequence.expire()),
    step(
      proxyOf ? 10 : 0,
      fc.tuple(fc.oneof(one, lanes, several(callOf(/pets.add/))), breaks),
      async (sequence, [planned, way]) => {
        const lanes = lanesOf(sequence, planned);
        await sequence.open(lanes);
        await sequence.disturbed(() => breakConnections(sequence, way, () => sequence.run(lanes)));
        await repeat(sequence, planned);
      },
    ),
    step(proxyOf ? 4 : 0, fc.tuple(restores, breaks), async (sequence, [given, way]) => {
      const [actor, another] = [given.actor, 2 - given.actor].map(sequence.actorAt) as [Actor, Actor];
      await sequence.disturbed(() =>
        sequence.restore({ ...given, actor }, (begin) => breakConnections(sequence, way, begin)),
      );
      await repeat(sequence, []);
      await sequence.restore({ ...given, actor: another });
    }),
    step(outages.length && 1, fc.tuple(fc.nat(), lanes), async (sequence, [number, planned]) => {
      const [name, outage] = outages[number % outages.length] as (typeof outages)[number];
      const lanes = lanesOf(sequence, planned);
      await sequence.open(lanes);
      await sequence.disturbed(async () => {
        sequence.log.push(`the outage "${name}" begins`);
        await outage.begin(sequence.place as Place);
        await sequence.run(lanes).finally(() => outage.end(sequence.place as Place));
        sequence.log.push('the outage ends');
      });
      await repeat(sequence, planned);
    }),
  );
  return fc.tuple(
    fc.commands([steps], { maxCommands: MAX_STEPS, size: 'max' }),
    // A process takes long to start.
    fc.nat(2).map((chance) => chance === 2 && inAnotherProcess !== undefined),
  );
}

/** Runs a plan. An error has the log of what was done. */
export async function runPlan<Place>(
  adapter: StorageUnderTest<Place>,
  [steps, hasOtherProcess]: readonly [Iterable<fc.AsyncCommand<object, Sequence>>, boolean],
): Promise<void> {
  const sequence = await beginSequence(adapter, hasOtherProcess);
  try {
    await fc.asyncModelRun(() => ({ model: {}, real: sequence }), steps);
  } catch (error) {
    throw withLog(error, sequence.log);
  } finally {
    await sequence.end();
  }
}
