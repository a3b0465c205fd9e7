/** A pet as clients see it. Ids that the service assigns are below 2^53. */
export interface Pet {
  readonly id: number;
  readonly name: string;
  readonly status?: string;
}

/** One call of a client. Times are in milliseconds of one monotonic clock. */
export interface Call<T> {
  readonly invoked: number;
  readonly completed: number;
  /** Failed: it had no effect, and a read returned nothing. Unknown: it may have had its effect, or have it later. */
  readonly result: T | 'failed' | 'unknown';
}

/** Adds a pet. Only calls with the same idempotency key send the same name. */
export interface Add extends Call<Pet> {
  readonly type: 'add';
  readonly name: string;
  readonly status?: string;
  readonly key?: string;
}

/** Reads one pet. Null: there is none with this id. */
export interface Find extends Call<Pet | null> {
  readonly type: 'find';
  readonly id: number;
}

/** Reads a page of the pets with a status, or of all. */
export interface List extends Call<Page> {
  readonly type: 'list';
  /** The id after which the page begins. */
  readonly after: number;
  readonly status?: string;
}

export interface Page {
  readonly pets: readonly Pet[];
  /** The target of the next page, or null after the last one. */
  readonly next: string | null;
}

export type Operation = Add | Find | List;

/** The pets in the response of a call. */
export function petsIn({ type, result }: Operation): readonly Pet[] {
  if (typeof result === 'string' || result === null) return [];
  return type === 'list' ? (result as Page).pets : [result as Pet];
}

/** The calls of clients, in any order, and all pets that were stored after the last call had ended. */
export interface History {
  readonly operations: readonly Operation[];
  readonly stored: readonly Pet[];
}
