// How the contract makes a call: in time, at once, and again if a busy machine made it slow.

import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@animal-store/domain';
import type { Ports, Storage } from '@animal-store/domain/ports';
import { CALL_LIMIT, RECOVERY_LIMIT, TRIES } from './limits.ts';

/** In milliseconds. */
const TURN = 100;

/** The results of calls at the same time. */
export function atOnce<Result>(count: number, call: (index: number) => Result | Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

/** The error of a call, or null if it returns. A call that takes longer than its limit has one, too. */
export async function failureOf(call: () => unknown, limit = CALL_LIMIT): Promise<Error | null> {
  let failure: Error | null | undefined;
  const end = (async () => void (await call()))().then(
    () => {
      failure = null;
    },
    (error: Error) => {
      failure = error;
    },
  );
  // On a busy machine this process may stand still while timers are due: only the turns of the event loop count.
  for (let left = limit; left > 0 && failure === undefined; left -= TURN) {
    await Promise.race([end, sleep(TURN, null, { ref: false })]);
  }
  return failure === undefined ? new Error(`the call did not end within ${limit} ms`) : failure;
}

/** The result of a call, or an error if it takes longer than its limit. */
async function inTime<Result>(call: () => Promise<Result>, limit: number): Promise<Result> {
  let result: Result | undefined;
  const failure = await failureOf(async () => {
    result = await call();
  }, limit);
  if (failure !== null) throw failure;
  return result as Result;
}

/**
 * Returns a function that says whether a call, which began at a time of `performance.now()` and has failed now, was slow, or
 * failed soon after a slow one for which the same function was asked. On a busy machine right adapters have such calls: a
 * connection was closed with the slow one, or the disk still syncs.
 *
 * @param soon In milliseconds.
 */
export function excuseSlow(soon = 2 * CALL_LIMIT): (begin: number) => boolean {
  let lastSlow = -Infinity;
  return (begin) => {
    const now = performance.now();
    if (now - begin > CALL_LIMIT / 2) lastSlow = now;
    return now - lastSlow < soon;
  };
}

/**
 * The result of a call in time, which may be repeated if it fails.
 *
 * @param limit In milliseconds, or {@link TRIES}.
 */
export async function repeated<Result>(
  call: () => Promise<Result>,
  mayRepeat: (failure: unknown, begin: number) => boolean,
  limit = RECOVERY_LIMIT,
): Promise<Result> {
  const end = performance.now() + limit;
  for (let left = TRIES; ; left -= 1) {
    const begin = performance.now();
    try {
      // Another process may stand still for longer than this one.
      return await inTime(call, 2 * CALL_LIMIT);
    } catch (failure) {
      const isOver = left <= 0 && performance.now() > end;
      if (isOver || !mayRepeat(failure, begin)) throw failure;
    }
    await sleep(TURN);
  }
}

/** The result of a call in time. It is repeated while it is unavailable and excused. */
export const patiently = <Result>(call: () => Promise<Result>, isExcused = excuseSlow()): Promise<Result> =>
  repeated(call, (failure, begin) => DomainError.is(failure) && isExcused(begin));

/** The ports of a storage, and perhaps its archive. */
export type Archived = Ports & Pick<Storage, 'archive'>;

/** The same ports, whose calls are repeated in this way. A creation without an idempotency key may then be stored twice. */
export function patient({ pets, keys, archive }: Archived): Archived {
  const isExcused = excuseSlow();
  const patientPort = <Port extends object>(port: Port): Port =>
    new Proxy({} as Port, {
      get(_, name) {
        const method: unknown = Reflect.get(port, name);
        // Without this a port would have a `then`, and be awaited.
        if (typeof method !== 'function') return method;
        return (...given: unknown[]) => patiently(() => method.apply(port, given), isExcused);
      },
    });
  return { pets: patientPort(pets), keys: patientPort(keys), ...(archive && { archive: patientPort(archive) }) };
}
