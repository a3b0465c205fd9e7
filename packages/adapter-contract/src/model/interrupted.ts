// What checks of interruptions have in common: each call of the ports once, at a new place, and what must hold afterwards.

import { LIMITS } from '@animal-store/domain';
import type { Storage } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { failureOf, isWrite } from '../calls.ts';
import type { Interruption, StorageUnderTest } from '../storage-under-test.ts';
import { type Call, type Method, OWN } from './calls.ts';
import { withLog } from './log.ts';
import { type Actor, beginSequence, type Sequence } from './sequence.ts';
import { WEIGHTS } from './steps.ts';

/** How long a request may take to the proxy, in milliseconds. */
export const IN_FLIGHT = 100;

export type Lane = { readonly actor: Actor; readonly call: Call }[];

/** An API key that is there when calls are interrupted, and one that others change meanwhile. */
export const [KNOWN, CHANGED] = [OWN, OWN + 1];

export const callOf = ({ calls }: Sequence, actor: Actor, name: Method, index: number, variant = 0) => ({
  ...{ actor, call: calls[name](index, variant, LIMITS.page.maxRead) },
});

/**
 * Each call of the ports once, each in a lane of its own.
 *
 * @param index Of what they create.
 * @param known Of an API key that was added: a storage may ignore others.
 */
export function everyCall(sequence: Sequence, actor: Actor, index: number, known = KNOWN): Lane[] {
  const lanes = (Object.keys(WEIGHTS) as Method[]).map((name): Lane => {
    const isChange = /recordUse|revoke/.test(name);
    return [callOf(sequence, actor, name, isChange ? known : index, 0)];
  });
  const others = [
    callOf(sequence, actor, 'pets.add', 4),
    callOf(sequence, actor, 'pets.find', 0),
    callOf(sequence, actor, 'pets.find', 1),
    callOf(sequence, actor, 'pets.list', 4, 1),
    callOf(sequence, actor, 'keys.find', KNOWN),
    callOf(sequence, actor, 'keys.find', CHANGED),
  ];
  return [...lanes, ...others.map((call) => [call])];
}

export const readsOf = (sequence: Sequence, actor: Actor) =>
  everyCall(sequence, actor, 4).filter(([one]) => !isWrite(one?.call.text ?? ''));

/** Writes of one index: two pets, and an API key with its changes. */
export const writesOf = (sequence: Sequence, actor: Actor, index: number): Lane => [
  callOf(sequence, actor, 'pets.add', 4),
  callOf(sequence, actor, 'pets.add', index),
  callOf(sequence, actor, 'keys.add', index),
  callOf(sequence, actor, 'keys.recordUse', index),
  callOf(sequence, actor, 'keys.revoke', index),
];

/** Runs a check at a new place, with two storages where an API key and two pets are stored. */
export async function atNewPlace<Place>(
  adapter: StorageUnderTest<Place>,
  name: string,
  check: (sequence: Sequence, place: Place) => Promise<void>,
): Promise<void> {
  const sequence = await beginSequence(adapter, false);
  try {
    await sequence.run([writesOf(sequence, sequence.actorAt(0), KNOWN).slice(0, 3)]);
    await check(sequence, sequence.place as Place);
  } catch (error) {
    (error as Error).message = `${name}: ${(error as Error).message}`;
    throw withLog(error, sequence.log);
  } finally {
    await sequence.end();
  }
}

/** Runs checks at the same time, because they wait most of the time. All have ended before a failure is thrown. */
export async function together(checks: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(checks);
  await Promise.all(checks);
}

/** Begins and ends an interruption once, at the latest when the test ends. */
export function switchOf<Place>(sequence: Sequence, interruption: Interruption<Place>, name: string) {
  const place = sequence.place as Place;
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= (async () => {
      sequence.log.push(`"${name}" ends`);
      await interruption.end(place);
    })();
    return ending;
  };
  async function begin(): Promise<void> {
    onTestFinished(end);
    sequence.log.push(`"${name}" begins`);
    await interruption.begin(place);
  }
  return { begin, end };
}

/** Expects that what was acknowledged is there, that each write can be repeated, and that each call works at the first try. */
export async function expectKept(sequence: Sequence, actor: Actor): Promise<void> {
  await sequence.readAll(actor);
  await sequence.repeatAll(actor);
  await sequence.readAll(actor);
}

/** What the operator reads of a storage that is not ready. */
export async function causeOf(storage: Pick<Storage, 'ready'>): Promise<unknown> {
  return (await failureOf(() => storage.ready()))?.cause;
}
