import type { NewPet, Pet, PetStatus } from '@animal-store/domain';
import { parse, stringify } from '@animal-store/exact-json';
import { AnimalStoreError } from './error.ts';
import { type CallOptions, send } from './send.ts';

/** The service and the API key. */
export interface ClientOptions {
  /** With the base path, and without credentials, query and fragment: `https://animals.example/v1`. */
  readonly url: string;
  /** Visible ASCII characters. */
  readonly key: string;
  /** Called once for each deprecated operation, with a text for developers; `console.warn` by default. */
  readonly onDeprecation?: ((message: string) => void) | undefined;
}

/** Selects pets. */
export interface PetFilter {
  /** Pets for a page: 1 to 100. */
  readonly limit?: number | undefined;
  readonly status?: PetStatus | undefined;
}

/** One page of pets, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next: string | null;
}

/**
 * The operations of the service. A call without a response, or with the status 408, 429, 500, 502, 503 or 504, is repeated
 * until its timeout, with exponential backoff and jitter, and not before `Retry-After`. Calls reject with an
 * {@link AnimalStoreError}, or with the reason of their signal.
 */
export interface Client {
  /** @param query 20 pets from the first if it is absent; `cursor` as the page before gave it. */
  listPets(query?: PetFilter & { readonly cursor?: string | undefined }, options?: CallOptions): Promise<PetPage>;

  /**
   * Every pet that exists at the start exactly once, in ascending order of id.
   *
   * @param filter Pages have 100 pets by default.
   * @param options The options of the call for each page.
   */
  allPets(filter?: PetFilter, options?: CallOptions): AsyncGenerator<Pet, void, undefined>;

  /**
   * Creates one pet, however often the request is repeated.
   *
   * @param options `idempotencyKey`: 1 to 255 visible ASCII characters, to continue in another process; a new one by default.
   * @throws TypeError if the idempotency key is not as described.
   */
  createPet(newPet: NewPet, options?: CallOptions & { readonly idempotencyKey?: string | undefined }): Promise<Pet>;

  /** @deprecated The service removes it on 5 December 2030. */
  getPet(id: bigint, options?: CallOptions): Promise<Pet>;
}

/**
 * A client of one service. It opens connections with `fetch`, and need not be closed.
 *
 * @throws TypeError if the URL or the key is not as described. It repeats neither.
 * @example const pets = createClient({ url: 'http://127.0.0.1:3000/v1', key })
 */
export function createClient({ url, key, onDeprecation = console.warn }: ClientOptions): Client {
  const base = baseOf(url);
  if (!/^[!-~]+$/.test(key)) throw new TypeError('key must have visible ASCII characters only');
  const warned = new Set<string>();

  async function call<T>(
    operation: string,
    target: string,
    read: (value: unknown) => T,
    options: CallOptions = {},
    request: RequestInit = {},
  ) {
    const headers = new Headers(request.headers);
    headers.set('authorization', `Bearer ${key}`);
    const [{ status, headers: received }, text] = await send(`${base}/pets${target}`, { ...request, headers }, options);
    if (received.has('deprecation') && !warned.has(operation)) {
      warned.add(operation);
      onDeprecation(`${operation} of the Animal Store is deprecated: it ends on ${received.get('sunset')}`);
    }
    try {
      return { headers: received, value: read(parse(text)) };
    } catch (cause) {
      throw new AnimalStoreError('unexpected_response', 'the response is not the JSON of pets', { status, cause });
    }
  }

  async function listPets(query: Parameters<Client['listPets']>[0] = {}, options?: CallOptions): Promise<PetPage> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const target = `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
    const { headers, value } = await call('listPets', target, petsIn, options);
    const following = /\?([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
    return { pets: value, next: new URLSearchParams(following).get('cursor') };
  }

  return {
    listPets,

    async *allPets(filter, options) {
      let cursor: string | undefined;
      do {
        const { pets, next } = await listPets({ limit: 100, ...filter, cursor }, options);
        yield* pets;
        cursor = next ?? undefined;
      } while (cursor !== undefined);
    },

    async createPet(newPet, { idempotencyKey = randomKey(), ...options } = {}) {
      if (!/^[!-~]{1,255}$/.test(idempotencyKey))
        throw new TypeError('idempotencyKey must have 1 to 255 visible ASCII characters');
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
      return (await call('createPet', '', petIn, options, { method: 'POST', headers, body: stringify(newPet) })).value;
    },

    async getPet(id, options) {
      return (await call('getPet', `/${id}`, petIn, options)).value;
    },
  };
}

/** @throws TypeError if the value is no pet. */
function petIn(value: unknown): Pet {
  const { id, name, categoryId } = value as Record<string, unknown>;
  if (typeof id === 'bigint' && typeof name === 'string' && typeof categoryId === 'bigint') return value as Pet;
  throw new TypeError('no pet');
}

const petsIn = (value: unknown): Pet[] => (value as unknown[]).map(petIn);

function baseOf(url: string): string {
  try {
    const { protocol, username, password, search, hash, origin, pathname } = new URL(url);
    if (/^https?:/.test(protocol) && username + password + search + hash === '')
      return `${origin}${pathname}`.replace(/\/+$/, '');
  } catch {
    // The error of the parser quotes the URL, which may contain a password.
  }
  throw new TypeError('url must begin with http: or https: and have no credentials, query or fragment');
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function randomKey(): string {
  return crypto.getRandomValues(new BigUint64Array(2)).join('-');
}
