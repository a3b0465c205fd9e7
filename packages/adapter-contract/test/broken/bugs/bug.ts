import { DomainError } from '@animal-store/domain';
import {
  type ApiKeyRepository,
  unavailable as ofPorts,
  type PetArchive,
  type PetRepository,
} from '@animal-store/domain/ports';
import type { CopiedStorage, Options } from '../adapter.ts';

/** In the URL of each place, as Basic authentication sends them. */
export const CREDENTIALS = 'zoo:the-password-of-the-zoo';

/** What a wrong adapter does instead of the right one. */
export type Change = (storage: CopiedStorage, url: string) => Partial<CopiedStorage>;

/** What a cluster does, and an emulator doesn't. */
export type Behind = 'a replica that lags' | 'an engine under load';

/** A bug that an author has made. */
export interface Bug extends Options {
  /** The test that finds it. */
  readonly foundBy: string;
  /** What the failure says. */
  readonly message?: RegExp;
  readonly change?: Change;
  /** Where it shows itself: what the place is behind. */
  readonly behind?: Behind;
  /** The outage in which it shows itself, if not `cut`. */
  readonly outage?: 'silent' | 'slow';
}

/** Bugs by what an author has done. */
export type Bugs = Readonly<Record<string, Bug>>;

/** Whether the place of a URL is behind what a bug names. */
export const isBehind = (url: string) => new URL(url).search !== '';

/** A failure as an outage, a defect too. What is one already passes: a copy has the bug of its name alone. */
export const outage = (failure?: unknown): Error => (DomainError.is(failure) ? failure : ofPorts(failure));

/** The same, and the error of a defect passes. */
export const unavailable = (failure?: unknown): Error =>
  failure instanceof TypeError || failure instanceof RangeError ? failure : outage(failure);

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

/** Locks of the process. */
const locks = new Map<string, Promise<unknown>>();

export function locked<R>(name: string, work: () => Promise<R>): Promise<R> {
  const ended = Promise.resolve(locks.get(name)).then(work, work);
  locks.set(name, ended);
  return ended;
}
