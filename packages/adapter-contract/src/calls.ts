import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import {
  ALL_PETS,
  type PetArchive,
  type PortMethod,
  type Ports,
  type Storage,
  StorageMisconfigured,
} from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { CALL_LIMIT, RECOVERY_LIMIT, TRIES } from './limits.ts';
import { apiKey, rex } from './samples.ts';

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

/** The result of a call, or an error if it takes longer than a call may. */
export async function inTime<Result>(call: () => Promise<Result>): Promise<Result> {
  let result: Result | undefined;
  const failure = await failureOf(async () => {
    result = await call();
  });
  if (failure !== null) throw failure;
  return result as Result;
}

/**
 * Returns a function that says whether a call, which began at a time of `performance.now()` and has failed now, was slow, or failed
 * just after a slow one, with which its connection may have been closed. On a busy machine right adapters have such calls.
 */
export function excuseSlow(): (begin: number) => boolean {
  let lastSlow = -Infinity;
  return (begin) => {
    const now = performance.now();
    if (now - begin > CALL_LIMIT / 2) lastSlow = now;
    return now - lastSlow < CALL_LIMIT / 2;
  };
}

/** The result of a call in time. While it is unavailable and excused, it is repeated. */
export async function patiently<Result>(call: () => Promise<Result>, isExcused = excuseSlow()): Promise<Result> {
  for (let left = TRIES; ; left -= 1) {
    const begin = performance.now();
    try {
      return await inTime(call);
    } catch (failure) {
      if (!DomainError.is(failure) || !isExcused(begin) || left === 0) throw failure;
    }
  }
}

/** The same methods, whose calls are repeated in this way. A creation without an idempotency key may then be stored twice. */
export function patient<Port extends object>(port: Port): Port {
  const isExcused = excuseSlow();
  return new Proxy({} as Port, {
    get(_, name) {
      const method: unknown = Reflect.get(port, name);
      // Without this a port would have a `then`, and be awaited.
      if (typeof method !== 'function') return method;
      return (...given: unknown[]) => patiently(() => method.apply(port, given), isExcused);
    },
  });
}

/** Expects that a call failed as `storage_unavailable`, with a message for clients. */
export function expectUnavailable(name: string, failure: Error | null, { location }: Pick<Storage, 'location'>): void {
  expect(failure ?? 'no error', name).toMatchObject({ code: 'storage_unavailable' });
  expect(failure, name).toSatisfy(DomainError.is);
  const { message } = failure as DomainError;
  const rule = `the message of ${name} is for clients, without a path, address, code or cause`;
  expect(message, rule).toMatch(/^[a-zA-Z ,.:;()'-]+$/);
  expect(message, rule).not.toMatch(/[A-Z]{2}|[.:]\S/);
  for (const part of location.split(/[/:,]/)) if (part.length > 3) expect(message, rule).not.toContain(part);
  for (let { cause } = failure as Error; cause instanceof Error; cause = cause.cause) {
    expect(message, rule).not.toContain(cause.message);
  }
}

/** Expects that no failure in an outage which passes says that settings must change: a process that starts would end. */
export function expectNoMisconfiguration(failures: readonly (Error | null)[]): void {
  for (const { cause } of failures.filter((failure) => failure !== null))
    if (StorageMisconfigured.is(cause))
      expect(cause.message, 'a StorageMisconfigured although the outage will pass').toBe('');
}

/** Expects no secret in a value as a log shows it, with the causes of an error, also not as a part of what is encoded there. */
export function expectNoSecret(secrets: readonly string[] = [], value: unknown): void {
  const text = inspect(value, { depth: 10, maxStringLength: null });
  // `Basic …` has a user, too, and a token of the JWT kind has three parts.
  const decoded = text.match(/[\w+/-]{8,}/g)?.map((part) => Buffer.from(part, 'base64').toString()) ?? [];
  // As a Buffer is shown.
  const bytes =
    text.match(/(?:[\da-f]{2} ?){4,}/gi)?.map((part) => Buffer.from(part.replaceAll(' ', ''), 'hex').toString()) ?? [];
  const unescaped = text.replace(/(?:%[\da-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll('%', ''), 'hex').toString(),
  );
  for (const secret of secrets)
    for (const each of [text, unescaped, ...decoded, ...bytes])
      expect(each.includes(secret), `a secret in ${text}`).toBe(false);
}

/**
 * Waits until a storage works, after an outage or among many. On a busy machine each call may take all of its time.
 *
 * @param limit In milliseconds.
 * @param passes Whether no failure may say that settings must change.
 */
export async function recovered(storage: Storage, limit = RECOVERY_LIMIT, passes = false): Promise<void> {
  const end = performance.now() + limit;
  for (let left = TRIES; ; left -= 1) {
    const failure = await failureOf(() => storage.ready());
    if (failure === null) return;
    if (passes) expectNoMisconfiguration([failure]);
    if (left <= 0 && performance.now() > end) throw failure;
    await sleep(50);
  }
}

/** A method of the ports or of an archive. */
export type Method = PortMethod | `archive.${keyof PetArchive}`;

/** Right arguments of each method. One that is missing here is a compile error. */
const RIGHT = {
  'pets.add': () => [rex()],
  'pets.find': () => [1n],
  'pets.list': () => [{ ...ALL_PETS, after: 0n, limit: 1 }],
  'keys.add': () => [apiKey()],
  'keys.find': () => [apiKey().digest],
  'keys.list': () => [{ after: '', limit: 1 }],
  'keys.recordUse': () => [apiKey().id, 7],
  'keys.revoke': () => [apiKey().id, 5],
  'archive.read': () => [0n, 1],
  'archive.lastId': () => [],
  'archive.skipIds': () => [0n],
  'archive.restore': () => [[]],
} satisfies Record<Method, () => readonly unknown[]>;

const METHODS = Object.keys(RIGHT) as readonly Method[];

/** The methods that throw a TypeError if their argument is missing. */
export const TYPE_ERRORS = ['pets.add', 'pets.list', 'keys.add', 'keys.list'] as const satisfies readonly Method[];

export const isWrite = (name: string) => /^(pets.add|keys.(add|recordUse|revoke))/.test(name);

export const isOfArchive = (name: Method) => name.startsWith('archive');

/** Calls a method. What it throws is a rejection, too. */
export async function callBy(
  storage: Ports & Pick<Storage, 'archive'>,
  name: Method,
  given: readonly unknown[] = RIGHT[name](),
): Promise<unknown> {
  const [port, method] = name.split('.') as [keyof typeof storage, string];
  const methods = storage[port] as object;
  return Reflect.get(methods, method).apply(methods, given);
}

/** The failures of every call that needs a storage, all at the same time, by their names. */
export function failuresOf(storage: Storage): Promise<readonly (readonly [name: string, failure: Error | null])[]> {
  const methods = METHODS.filter((name) => storage.archive || !isOfArchive(name));
  const calls = methods.map((name) => [name, () => callBy(storage, name)] as const);
  const all = [...calls, ['ready', () => storage.ready()] as const];
  return Promise.all(all.map(async ([name, call]) => [name, await failureOf(call)] as const));
}
