import { setTimeout as pause } from 'node:timers/promises';
import type { History, Operation, Pet } from './history.ts';
import type { ServiceClient } from './service-client.ts';

/** Clients of several processes, which record what they do. */
export interface Clients {
  /** How many pets were acknowledged. */
  acknowledged(): number;
  /** Rejects if a client gets a response that it does not expect: then all of them end. */
  readonly ended: Promise<unknown>;
  /** Ends the clients, and reads everything that is stored then. */
  finish(): Promise<History>;
}

const STATUSES = [undefined, 'available', 'pending', 'sold'] as const;

/** How often a creation with an idempotency key is tried. */
const MAX_TRIES = 4;

/** How long a client waits after an operation that did not succeed, in milliseconds. */
const BACKOFF = 50;

/** How many pages may fail after the faults have ended: each failure takes seconds. */
const MAX_FAILURES = 5;

const FIRST_PAGE = '/v1/pets?limit=100';

/** A list that a client follows page by page; at its end it reads the last page again and again. */
interface Walk {
  readonly status?: string;
  target: string;
  after: number;
}

export function startClients(services: readonly [ServiceClient, ServiceClient], count: number): Clients {
  const operations: Operation[] = [];
  /** The latest pets that any client has seen. */
  const seen: Pet[] = [];
  let acknowledged = 0;
  let done = false;

  function see(pet: Pet): void {
    seen.push(pet);
    if (seen.length > 100) seen.shift();
  }

  async function add(service: ServiceClient, pet: Omit<Pet, 'id'>, key?: string): Promise<Pet | null> {
    const [result, times] = await timed(() => service.add(pet, key));
    operations.push({ type: 'add', ...pet, ...(key && { key }), ...times, result });
    if (typeof result === 'string') return null;
    acknowledged += 1;
    see(result);
    return result;
  }

  async function find(service: ServiceClient, id: number): Promise<boolean> {
    const [result, times] = await timed(() => service.find(id));
    operations.push({ type: 'find', id, ...times, result });
    return result !== 'failed';
  }

  async function list(service: ServiceClient, walk: Walk): Promise<readonly Pet[] | null> {
    const { target, after, status } = walk;
    const [page, times] = await timed(() => service.list(target));
    const call = { type: 'list', after, ...withStatus(status), ...times } as const;
    if (page === 'failed') {
      operations.push({ ...call, result: page });
      return null;
    }
    const { pets, isLast, next } = page;
    operations.push({ ...call, result: { pets, isLast } });
    const last = pets.at(-1);
    if (last !== undefined) see(last);
    if (next !== null) {
      walk.target = next;
      walk.after = last?.id ?? after;
    }
    return pets;
  }

  /** Adds a pet with an idempotency key, until it is acknowledged or the client gives up; sometimes at both processes at once. */
  async function addWithKey(first: number, pet: Omit<Pet, 'id'>): Promise<Pet | null> {
    const key = pet.name;
    if (chance(0.05)) return (await Promise.all(services.map((service) => add(service, pet, key))))[0] ?? null;
    for (let tried = 0; tried < MAX_TRIES; tried += 1) {
      const added = await add(services[(first + tried) % 2] as ServiceClient, pet, key);
      if (added !== null) return added;
      await pause(BACKOFF);
    }
    return null;
  }

  async function client(number: number): Promise<void> {
    const status = STATUSES[number % STATUSES.length];
    const walk: Walk = { ...withStatus(status), target: targetOf(status), after: 0 };
    for (let round = 0; !done; round += 1) {
      const process = chance(0.5) ? 1 : 0;
      const [here, elsewhere] = [services[process], services[1 - process]] as [ServiceClient, ServiceClient];
      const what = Math.random();
      let succeeded: boolean;
      if (what < 0.6) {
        const pet = { name: `${number}-${round}`, ...withStatus(anyOf(STATUSES)) };
        const added = what < 0.3 ? await add(here, pet) : await addWithKey(process, pet);
        succeeded = added !== null;
        if (added !== null && chance(0.2)) await find(elsewhere, added.id);
      } else if (what < 0.8) {
        succeeded = await find(here, anyOf(seen)?.id ?? 1);
      } else {
        succeeded = (await list(here, walk)) !== null;
      }
      if (!succeeded) await pause(BACKOFF);
    }
  }

  async function everything(service: ServiceClient): Promise<Pet[]> {
    const pets: Pet[] = [];
    const walk: Walk = { target: FIRST_PAGE, after: 0 };
    let failures = 0;
    for (let before = ''; before !== walk.target; ) {
      const { target } = walk;
      const page = await list(service, walk);
      if (page === null) {
        failures += 1;
        if (failures === MAX_FAILURES) throw new Error('the storage is unavailable though all faults have ended');
        continue;
      }
      before = target;
      pets.push(...page);
    }
    return pets;
  }

  const ended = Promise.all(
    Array.from({ length: count }, (_, number) =>
      client(number).finally(() => {
        done = true;
      }),
    ),
  );
  return {
    ended,
    acknowledged: () => acknowledged,
    async finish() {
      done = true;
      await ended;
      await everything(services[1]);
      return { stored: await everything(services[0]), operations };
    },
  };
}

/** The result of a call, and when it began and ended. */
async function timed<T>(
  call: () => Promise<T>,
): Promise<[T, { readonly invoked: number; readonly completed: number }]> {
  const invoked = performance.now();
  return [await call(), { invoked, completed: performance.now() }];
}

const chance = (probability: number): boolean => Math.random() < probability;

const anyOf = <T>(values: readonly T[]): T | undefined => values[Math.floor(Math.random() * values.length)];

const withStatus = (status: string | undefined) => ({ ...(status && { status }) });

const targetOf = (status: string | undefined): string =>
  status === undefined ? FIRST_PAGE : `${FIRST_PAGE}&status=${status}`;
