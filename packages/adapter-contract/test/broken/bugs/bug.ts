import { BUDGET, withTimeout } from '@animal-store/adapter-kit';
import { type ApiKey, DomainError } from '@animal-store/domain';
import {
  type ApiKeyRepository,
  unavailable as ofPorts,
  type PetArchive,
  type PetRepository,
} from '@animal-store/domain/ports';
import type { CopiedStorage, Options } from '../adapter.ts';

/** In the URL of each place, as Basic authentication sends them. */
export const CREDENTIALS = 'zoo:the-password-of-the-zoo';

/**
 * What a wrong adapter does instead of the right one.
 *
 * @param number Of the storage at its place: it names its settings.
 */
export type Change = (storage: CopiedStorage, url: string, number?: number) => Partial<CopiedStorage>;

/** A bug that an author has made. */
export interface Bug extends Options {
  /** What the failure says. */
  readonly message?: RegExp;
  readonly change?: Change;
  /** What the place is behind: a cluster does it, and an emulator doesn't. */
  readonly behind?: 'a replica that lags' | 'an engine under load';
  /** The outage in which it shows itself, if not `cut`. */
  readonly outage?: 'silent' | 'slow';
}

/** Bugs by the check that finds them, and by what an author has done. */
export type Bugs = Readonly<Record<string, Readonly<Record<string, Bug | Change>>>>;

/** Whether the place of a URL is behind what a bug names. */
export const isBehind = (url: string) => new URL(url).search !== '';

/** A failure as an outage, a defect too. What is one already passes: a copy has the bug of its name alone. */
export const outage = (failure?: unknown): Error => (DomainError.is(failure) ? failure : ofPorts(failure));

/** The same, and the error of a defect passes. */
export const unavailable = (failure?: unknown): Error =>
  failure instanceof TypeError || failure instanceof RangeError ? failure : outage(failure);

/** The result of work, if it comes as soon as that of a call must. The work goes on. */
export const withinCall = <R>(work: Promise<R>): Promise<R> =>
  withTimeout(work, BUDGET.call).catch((failure) => {
    throw unavailable(failure);
  });

/** Changes one method of a port. */
const method =
  <Port extends object>(port: 'pets' | 'keys' | 'archive') =>
  <M extends keyof Port>(name: M, change: (right: Port[M], storage: CopiedStorage, url: string) => Port[M]): Change =>
  (storage, url) => {
    const methods = storage[port] as unknown as Port;
    return { [port]: { ...methods, [name]: change(methods[name], storage, url) } };
  };

export const ofPets = method<PetRepository>('pets');
export const ofKeys = method<ApiKeyRepository>('keys');
export const ofArchive = method<PetArchive>('archive');

export const both =
  (...changes: readonly Change[]): Change =>
  (storage, url) => {
    let changed = storage;
    for (const change of changes) changed = { ...changed, ...change(changed, url) };
    return changed;
  };

/** Notes the id of each pet that a call of this storage has returned. */
export const noting = (note: (id: bigint) => void): Change =>
  ofPets('add', (add) => async (...given) => {
    const creation = await add(...given);
    if (creation) note(creation.pet.id);
    return creation;
  });

/** The record of an API key, read by a request of its own. */
export async function recordOf({ keys }: CopiedStorage, id: string): Promise<ApiKey | undefined> {
  const before = (BigInt(`0x${id}`) - 1n).toString(16).padStart(16, '0');
  const [next] = await keys.list({ after: before, limit: 1 });
  return next?.id === id ? next : undefined;
}

/** Locks of the process. */
const locks = new Map<string, Promise<unknown>>();

export function locked<R>(name: string, work: () => Promise<R>): Promise<R> {
  const ended = Promise.resolve(locks.get(name)).then(work, work);
  locks.set(name, ended);
  return ended;
}
