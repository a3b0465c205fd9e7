const STATUSES = ['available', 'pending', 'sold'] as const;

export interface NewPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: (typeof STATUSES)[number];
}

/** One request, in no server's words. */
export type Operation =
  | { readonly kind: 'get'; readonly id: string }
  | { readonly kind: 'list'; readonly limit: number; readonly status?: NewPet['status'] }
  /** A page that the server itself linked to. */
  | { readonly kind: 'page'; readonly path: string }
  | { readonly kind: 'create'; readonly pet: NewPet };

/** A number from 0 up to, but not including, `below`. */
export type Random = (below: number) => number;

/** Chooses the next operation. `ids` are those of pets that the server has. */
export type Workload = (random: Random, ids: readonly string[]) => Operation;

/** A quarter of all pets has each status, a quarter has none. */
export function newPet(number: number): NewPet {
  const status = STATUSES[number % 4];
  return { name: `Rex ${number}`, categoryId: 7, ...(status && { status }) };
}

const get: Workload = (random, ids) => ({ kind: 'get', id: ids[random(ids.length)] as string });
const list20: Workload = () => ({ kind: 'list', limit: 20 });
const create: Workload = (random) => ({ kind: 'create', pet: newPet(random(1_000_000)) });

/** Those that create pets come last: the others find the same pets on each server. */
export const WORKLOADS = {
  'get one': get,
  'list 20': list20,
  'list 100': () => ({ kind: 'list', limit: 100 }),
  'list 100 by status': () => ({ kind: 'list', limit: 100, status: 'sold' }),
  'mixed lists': (random) => ({ kind: 'list', limit: 1 + random(100), status: STATUSES[random(4)] }),
  '90 % reads': (random, ids) => (random(10) === 0 ? create : random(2) === 0 ? get : list20)(random, ids),
  create,
} satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof WORKLOADS;

/** The same numbers in each run (the generator mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
