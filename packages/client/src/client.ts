import type { PetQuery as DomainQuery, LIMITS, NewPet, Pet, PetStatus } from '@animal-store/domain';
import { stringify } from '@animal-store/exact-json';
import { type CallOptions, type Read, type RetryOptions, send } from './send.ts';

/** The service, the API key, and how calls are repeated. */
export interface ClientOptions extends RetryOptions {
  /** `https://animals.example/v1`, or `/v1` on a page of the same origin; without credentials, query and fragment. */
  readonly url: string | URL;
  /** 1 or more visible ASCII characters. */
  readonly key: string;
  /**
   * How long a call may take with all its attempts, in milliseconds, unless the call has its own.
   *
   * @default 30_000
   */
  readonly timeout?: number | undefined;
  /**
   * Sends the requests.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Called once for each deprecated operation, with a text for developers.
   *
   * @default console.warn
   */
  readonly onDeprecation?: ((message: string) => void) | undefined;
}

/** Selects a page of pets. */
export interface PetQuery {
  /**
   * At most this many pets: 1 to 100.
   *
   * @default 20
   */
  readonly limit?: number | undefined;
  /**
   * Only pets with this status.
   *
   * @default all pets, those without a status too
   */
  readonly status?: PetStatus | undefined;
  /**
   * {@link PetPage.next} of the page before.
   *
   * @default null, the first page
   */
  readonly cursor?: string | null | undefined;
}

/** Which pets are read: a {@link PetQuery} without the size of its pages. */
export type AllPetsQuery = Omit<PetQuery, 'limit'>;

/** The parameters of a query with their types: a filter that is missing here or in {@link PetQuery} is a compile error. */
const PARAMETERS = { limit: 'number', status: 'string', cursor: 'string' } as const satisfies Record<
  Exclude<keyof DomainQuery, 'after'> | 'cursor',
  string
>;
const { limit: _, ...OF_ALL_PETS } = PARAMETERS;
const NAMES_OF_ALL_PETS = Object.keys(OF_ALL_PETS) as (keyof typeof OF_ALL_PETS)[];

// The client loads nothing of the domain: the types of its limits tell when they differ.
const PAGE_MAX: typeof LIMITS.page.max = 100;
const KEY_MAX_LENGTH: typeof LIMITS.idempotencyKey.maxLength = 255;

/** One page of pets, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next: string | null;
}

/**
 * The operations of the service. A call without a response, or with the status 408, 429, 500, 502, 503 or 504, is repeated
 * until its timeout, with exponential backoff and jitter, and not before `Retry-After`. Calls reject with an
 * {@link AnimalStoreError}, with a TypeError if an argument is not as described or has other members (a pet may have them), or
 * with the reason of their signal.
 */
export interface Client {
  listPets(query?: PetQuery, options?: CallOptions): Promise<PetPage>;

  /**
   * Every pet that exists at the start exactly once, in ascending order of id. The options apply to each page of 100. A page
   * whose pets do not follow those before is an `unexpected_response`.
   */
  allPets(query?: AllPetsQuery, options?: CallOptions): AsyncGenerator<Pet, void, undefined>;

  /**
   * Creates one pet, however often the request is repeated.
   *
   * @param options `idempotencyKey`: 1 to 255 visible ASCII characters, to continue a call that failed; a new one by default.
   */
  createPet(newPet: NewPet, options?: CallOptions & { readonly idempotencyKey?: string | undefined }): Promise<Pet>;

  /** @deprecated The service removes it on 5 December 2030. */
  getPet(id: bigint, options?: CallOptions): Promise<Pet>;
}

/**
 * A client of one service. It opens connections with `fetch`, and need not be closed.
 *
 * @throws TypeError if the URL or the key is not as described, or for an unknown option. It repeats neither URL nor key. A
 * wrong number or `fetch` rejects each call.
 * @example const pets = createClient({ url: 'http://127.0.0.1:3000/v1', key })
 */
export function createClient(options: ClientOptions): Client {
  requireKnown('options', options, ['url', 'key', 'maxRetries', 'onRetry', 'timeout', 'fetch', 'onDeprecation']);
  const { url, key, onDeprecation = console.warn, ...ofClient } = options;
  const base = baseOf(String(url));
  if (!isVisible(key)) throw new TypeError('key must have 1 or more characters, all visible ASCII');
  const warned = new Set<string>();

  /** @param target What follows `/pets` in the URL. */
  function call<T extends object>(
    name: keyof Client,
    target: string,
    read: Read<T>,
    options: CallOptions = {},
    init: RequestInit = {},
  ): Promise<T> {
    requireKnown('options', options, ['signal', 'timeout']);
    const { signal, timeout = ofClient.timeout } = options;
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${key}`);
    headers.set('x-request-id', randomText());
    const onResponse = (received: Headers) => {
      if (!received.has('deprecation') || warned.has(name)) return;
      warned.add(name);
      onDeprecation(`${name} of the Animal Store is deprecated: it ends on ${received.get('sunset')}`);
    };
    return send(`${base}/pets${target}`, { ...init, headers }, read, { ...ofClient, signal, timeout, onResponse });
  }

  const listPage = (query: PetQuery, options: CallOptions | undefined, read: Read<PetPage>) =>
    call('listPets', searchOf(query), read, options);

  return {
    async listPets(query = {}, options) {
      return listPage(query, options, readPage);
    },

    async *allPets(query = {}, options) {
      requireKnown('query', query, NAMES_OF_ALL_PETS);
      // A spread would drop inherited members.
      const selection = Object.fromEntries(NAMES_OF_ALL_PETS.map((name) => [name, query[name]]));
      let next = query.cursor;
      let last = 0n;
      // A cache that ignores the query returns one page for all cursors.
      const readFollowing: Read<PetPage> = (body, headers) => {
        const page = readPage(body, headers);
        if (typeof page === 'string') return page;
        if (page.pets.length === 0 && page.next !== null) return NOT_FOLLOWING;
        for (const { id } of page.pets) {
          if (id <= last) return NOT_FOLLOWING;
          last = id;
        }
        return page;
      };
      do {
        const page: PetPage = await listPage({ ...selection, limit: PAGE_MAX, cursor: next }, options, readFollowing);
        yield* page.pets;
        next = page.next;
      } while (next !== null);
    },

    async createPet(newPet, given = {}) {
      requireKnown('options', given, ['signal', 'timeout', 'idempotencyKey']);
      const { idempotencyKey = randomText(), ...options } = given;
      if (!isVisible(idempotencyKey) || idempotencyKey.length > KEY_MAX_LENGTH)
        throw new TypeError(`idempotencyKey must have 1 to ${KEY_MAX_LENGTH} visible ASCII characters`);
      // A number has lost the digits beyond 2^53.
      requireType('the categoryId of newPet', Object(newPet).categoryId, 'bigint');
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
      const init = { method: 'POST', headers, body: stringify(newPet) };
      return call('createPet', '', readPet, options, init);
    },

    async getPet(id, options) {
      requireType('id', id, 'bigint');
      return call('getPet', `/${id}`, readPet, options);
    },
  };
}

const isVisible = (text: unknown): boolean => typeof text === 'string' && /^[!-~]+$/.test(text);

/** @throws TypeError if an argument is no object, or has an enumerable member, inherited ones included, with another name. */
function requireKnown(argument: string, given: object, names: readonly string[]): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${argument} must be an object`);
  for (const name in given)
    if (!names.includes(name)) throw new TypeError(`${argument} must have no ${name}, only ${names.join(', ')}`);
}

/** @throws TypeError if an argument is not of this type. */
function requireType(argument: string, given: unknown, type: string): void {
  if (typeof given === type) return;
  const kind = given === undefined || given === null ? '' : `the ${typeof given} `;
  throw new TypeError(`${argument} must be a ${type}, was ${kind}${given}`);
}

/** @throws TypeError if a parameter is not of its type. The service checks its value. */
function searchOf(query: PetQuery): string {
  requireKnown('query', query, Object.keys(PARAMETERS));
  const search = new URLSearchParams();
  for (const [name, type] of Object.entries(PARAMETERS) as [keyof typeof PARAMETERS, string][]) {
    const value = query[name];
    if (value === undefined || (name === 'cursor' && value === null)) continue;
    requireType(name, value, type);
    search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}

const NOT_PETS = 'is not the JSON of pets';
const NOT_FOLLOWING = 'is not the page that follows: a cache may ignore the query';

/** The types of the members of a pet. */
const MEMBERS = {
  id: ['bigint'],
  name: ['string'],
  categoryId: ['bigint'],
  status: ['string', 'undefined'],
} as const satisfies Record<keyof Pet, readonly string[]>;

function isPet(body: unknown): body is Pet {
  const given = Object(body) as Record<string, unknown>;
  return Object.entries(MEMBERS).every(([name, types]) => (types as readonly string[]).includes(typeof given[name]));
}

const readPet: Read<Pet> = (body) => (isPet(body) ? body : NOT_PETS);

const readPage: Read<PetPage> = (body, headers) => {
  if (!Array.isArray(body) || !body.every(isPet)) return NOT_PETS;
  const following = /\?([^>]*)>;\s*rel="?next\b/i.exec(headers.get('link') ?? '')?.[1];
  return { pets: body, next: new URLSearchParams(following).get('cursor') };
};

/** The URL without slashes at its end. A path is on the origin of the page, which Node.js does not have. */
function baseOf(url: string): string {
  const { location } = globalThis as { location?: { origin: string } };
  try {
    // `new URL(url, origin)` would read `//other.example` as another host.
    const absolute = new URL(url.startsWith('/') ? `${location?.origin ?? ''}${url}` : url);
    const { protocol, username, password, search, hash, origin, pathname } = absolute;
    if (/^https?:/.test(protocol) && username + password + search + hash === '')
      return `${origin}${pathname}`.replace(/\/+$/, '');
  } catch {
    // The error of the parser quotes the URL, which may contain a password.
  }
  throw new TypeError('url must be an http(s) URL, or on a page a path, without credentials, query and fragment');
}

/** `crypto.randomUUID` is missing on pages without TLS. */
const randomText = (): string => crypto.getRandomValues(new BigUint64Array(2)).join('-');
