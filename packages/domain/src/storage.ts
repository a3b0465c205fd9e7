import type { Awaitable } from './awaitable.ts';
import type { KeyStore } from './key-store.ts';
import type { PetStore } from './pet-store.ts';

/** What an adapter for persistence provides: the ports on one store, and its life. */
export interface Storage {
  readonly pets: PetStore;
  readonly keys: KeyStore;

  /** Resolves where the store can be read and written now. @throws DomainError `service_unavailable`, within seconds. */
  ready(): Awaitable<void>;

  /** Lets go of everything the adapter opened. What was acknowledged stays. May be called twice. */
  close(): Awaitable<void>;
}
