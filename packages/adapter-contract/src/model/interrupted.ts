// What checks of interruptions have in common: each call of the ports once, at a new place, and what must hold afterwards.

import { LIMITS } from '@animal-store/domain';
import { onTestFinished } from 'vitest';
import { isWrite } from '../methods.ts';
import type { Interruption, StorageUnderTest } from '../storage-under-test.ts';
import type { TcpProxy } from '../tcp-proxy.ts';
import { type Call, type Method, OWN } from './calls.ts';
import { withLog } from './log.ts';
import { type Actor, beginSequence, type Sequence } from './sequence.ts';
import { WEIGHTS } from './steps.ts';

/** How long a request may take to the proxy, in milliseconds. */
export const IN_FLIGHT = 100;

export type Lane = { readonly actor: Actor; readonly call: Call }[];

/** An API key that is there when calls are interrupted, and one that others change meanwhile. */
export const [KNOWN, CHANGED] = [OWN, OWN + 1];

/** One of the storages of a sequence. */
export type Client = ReturnType<typeof clientAt>;

function clientAt(sequence: Sequence, number: number) {
  const actor = sequence.actorAt(number);

  const call = (name: Method, index: number, variant = 0) => ({
    actor,
    call: sequence.calls[name](index, variant, LIMITS.page.maxRead),
  });

  /**
   * Each of them once, each in a lane of its own.
   *
   * @param index Of what they create.
   * @param known Of an API key that was added: a storage may ignore others.
   */
  const every = (index: number, known = KNOWN): Lane[] => [
    ...(Object.keys(WEIGHTS) as Method[]).map((name) => [call(name, /recordUse|revoke/.test(name) ? known : index)]),
    [call('pets.add', 4)],
    [call('pets.find', 0)],
    [call('pets.find', 1)],
    [call('pets.list', 4, 1)],
    [call('keys.find', KNOWN)],
    [call('keys.find', CHANGED)],
  ];

  const readAll = () => sequence.readAll(actor);

  return {
    actor,
    call,
    every,
    readAll,
    /** @param isUsable False if it can't work yet. */
    open: (isUsable = false) => sequence.openedBy(actor, isUsable),
    close: () => sequence.close(actor),
    /** The failure of `ready`, or null. */
    ready: async () => (await sequence.run([[{ actor, call: sequence.ready() }]]))[0]?.failure ?? null,
    reads: () => every(4).filter(([one]) => !isWrite(one?.call.text ?? '')),

    /** Writes of one index: two pets, and an API key with its changes. */
    writes: (index: number): Lane => [
      call('pets.add', 4),
      call('pets.add', index),
      call('keys.add', index),
      call('keys.recordUse', index),
      call('keys.revoke', index),
    ],

    /** Expects that what was acknowledged is there, that writes can be repeated, and that each call works at the first try. */
    async expectKept(): Promise<void> {
      await readAll();
      await sequence.run([every(KNOWN).flat()]);
      await sequence.repeatAll(actor);
      await readAll();
    },
  };
}

/** A new place, where an API key and two pets are stored, with two storages that are open and one that is not. */
export interface Scene<Place> {
  readonly sequence: Sequence;
  readonly place: Place;
  readonly one: Client;
  readonly other: Client;
  readonly opening: Client;
}

/** The same, behind a proxy. */
export type ProxiedScene = Scene<unknown> & { readonly proxy: TcpProxy };

/** Runs a check at a place of its own. */
export async function atNewPlace<Place>(
  adapter: StorageUnderTest<Place>,
  name: string,
  check: (scene: Scene<Place>) => Promise<void>,
): Promise<void> {
  const sequence = await beginSequence(adapter, false);
  try {
    const one = clientAt(sequence, 0);
    await sequence.run([one.writes(KNOWN).slice(0, 3)]);
    const [other, opening] = [clientAt(sequence, 1), clientAt(sequence, 2)];
    await check({ sequence, place: sequence.place as Place, one, other, opening });
  } catch (error) {
    (error as Error).message = `${name}: ${(error as Error).message}`;
    throw withLog(error, sequence.log);
  } finally {
    await sequence.end();
  }
}

/** Runs checks at places of their own, behind proxies. */
export const atProxies =
  <Place>(adapter: StorageUnderTest<Place>, proxyOf: (place: Place) => TcpProxy) =>
  (name: string, check: (scene: ProxiedScene) => Promise<void>): Promise<void> =>
    atNewPlace(adapter, name, (scene) => check({ ...scene, proxy: proxyOf.call(adapter, scene.place) }));

/** Runs checks at the same time, because they wait most of the time. All have ended before a failure is thrown. */
export async function together(checks: readonly Promise<unknown>[]): Promise<void> {
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
