import { setTimeout as pause } from 'node:timers/promises';
import { type Call, type History, type Operation, type Page, type Pet, petsIn } from './history.ts';
import type { ServiceClient, Walk } from './service-client.ts';

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

export function startClients(services: readonly [ServiceClient, ServiceClient], count: number): Clients {
  const operations: Operation[] = [];
  /** The latest pets that any client has created, or seen at the end of a page. */
  const seen: Pet[] = [];
  let acknowledged = 0;
  let done = false;

  /** Records a call, and returns its result if it succeeds. */
  async function record<T>(call: Promise<Operation & Call<T>>): Promise<T | undefined> {
    const operation = await call;
    operations.push(operation);
    const { type, result } = operation;
    if (typeof result === 'string') return undefined;
    if (type === 'add') acknowledged += 1;
    if (type !== 'find') seen.push(...petsIn(operation).slice(-1));
    if (seen.length > 100) seen.shift();
    return result;
  }

  /** Reads a page, and moves on to the next one; at its end the walk reads the last page again and again. */
  async function list(service: ServiceClient, walk: Walk): Promise<Page | undefined> {
    const page = await record<Page>(service.list(walk));
    if (page !== undefined && page.next !== null) {
      walk.target = page.next;
      walk.after = page.pets.at(-1)?.id ?? walk.after;
    }
    return page;
  }

  /** Adds a pet with an idempotency key, until it is acknowledged or the client gives up; sometimes at both processes at once. */
  async function addWithKey(first: number, pet: Omit<Pet, 'id'>): Promise<Pet | undefined> {
    const key = pet.name;
    if (chance(0.05)) return (await Promise.all(services.map((service) => record<Pet>(service.add(pet, key)))))[0];
    for (let tried = 0; tried < MAX_TRIES; tried += 1) {
      const added = await record<Pet>((services[(first + tried) % 2] as ServiceClient).add(pet, key));
      if (added !== undefined) return added;
      await pause(BACKOFF);
    }
    return undefined;
  }

  async function client(number: number): Promise<void> {
    const walk = walkOf(STATUSES[number % STATUSES.length]);
    for (let round = 0; !done; round += 1) {
      const process = chance(0.5) ? 1 : 0;
      const [here, elsewhere] = [services[process], services[1 - process]] as [ServiceClient, ServiceClient];
      const what = Math.random();
      let result: unknown;
      if (what < 0.6) {
        const pet = { name: `${number}-${round}`, ...withStatus(anyOf(STATUSES)) };
        const added = await (what < 0.3 ? record<Pet>(here.add(pet)) : addWithKey(process, pet));
        if (added !== undefined && chance(0.2)) await record(elsewhere.find(added.id));
        result = added;
      } else if (what < 0.8) {
        result = await record(here.find(anyOf(seen)?.id ?? 1));
      } else {
        result = await list(here, walk);
      }
      if (result === undefined) await pause(BACKOFF);
    }
  }

  async function everything(service: ServiceClient): Promise<Pet[]> {
    const pets: Pet[] = [];
    const walk = walkOf(undefined);
    for (let failures = 0; failures < MAX_FAILURES; ) {
      const page = await list(service, walk);
      if (page === undefined) failures += 1;
      else pets.push(...page.pets);
      if (page?.next === null) return pets;
    }
    throw new Error('the storage is unavailable though all faults have ended');
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

const chance = (probability: number): boolean => Math.random() < probability;

const anyOf = <T>(values: readonly T[]): T | undefined => values[Math.floor(Math.random() * values.length)];

const withStatus = (status: string | undefined) => ({ ...(status && { status }) });

/** The walk to all pets, or to those with a status. */
const walkOf = (status: string | undefined): Walk => ({
  ...withStatus(status),
  target: `/v1/pets?${new URLSearchParams({ limit: '100', ...withStatus(status) })}`,
  after: 0,
});
