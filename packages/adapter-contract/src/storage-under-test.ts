import type { PetArchive, Ports, Storage } from '@animal-store/domain/ports';
import { expect, onTestFinished, type TestAPI, test } from 'vitest';
import { type Archived, patient } from './calls.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** The limit of each test, in milliseconds: ten times what a slow and busy machine needs. */
export const TEST_LIMIT = 600_000;

/**
 * An adapter as the contract needs it. A place stores pets: a path, a URL, an object. It outlives its storages, which may be
 * several at once.
 */
export interface StorageUnderTest<Place> {
  /** Returns a place that is new and empty. Called in a test: remove the place in `onTestFinished`. */
  freshPlace(): Place | Promise<Place>;

  /**
   * Returns another place, new and empty, that has the same name in another engine: the same database on another server, a file
   * of the same name in another folder. A module may keep by the name alone what belongs to one of them.
   */
  twin?(place: Place): Place | Promise<Place>;

  /**
   * Opens a storage at a place. The contract closes it.
   *
   * @param number 0 to 2, of storages that are open at the same time. Let each number have settings of its own, as processes may
   * during a deployment: a number of shards, sizes of blocks and pools. Settings that must be the same are those of
   * {@link StorageUnderTest.misconfiguredPlaces}.
   */
  open(place: Place, number: number): Storage | Promise<Storage>;

  /**
   * What can be away while the process runs, by name, as far as the engine can do it: `locked`, `throttled`, `credentials
   * expired`, `no right to write`; a table that is renamed, a file that is moved, a place that is dropped and created anew,
   * empty; `a partition`, `the leader`, `another node of three`, `every node`, killed and started again; `a later format`.
   * {@link behindProxy} adds those of a network. 'not tested': nothing shows that calls fail in time.
   */
  readonly interruptions: Interruptions<Place> | 'not tested';

  /**
   * Places as a cluster serves them and an emulator doesn't, by name: `a replica that lags`, `calls that are throttled`. Each
   * leads a new place through a proxy of the author's, and all tests of calls and of an archive run there, too.
   */
  readonly behind?: Readonly<Record<string, (place: Place) => Place | Promise<Place>>>;

  /**
   * Returns places that work only if their settings change: a wrong password, a folder instead of a file. They differ from a
   * right one, which is open at the same time, in that alone: a storage may work by what the process has of another.
   */
  misconfiguredPlaces?(right: Place): readonly Place[] | Promise<readonly Place[]>;

  /** What an operator, or the engine, does to what is stored at a place. */
  readonly operator?: Operator<Place>;

  /**
   * How another process opens a storage at a place. The state of a module is that of one process: without this nobody sees
   * locks and caches that hide the other processes, nor what keeps a process alive.
   *
   * @example
   * const module = import.meta.resolve('@acme/adapter');
   * const inAnotherProcess = (url) => ({ module, name: 'createAcmeStorage', options: { url } });
   */
  inAnotherProcess?(place: Place): ExportedFunction;

  /**
   * The proxy before a place, for tests that close and count connections. {@link behindProxy} gives it.
   */
  proxyOf?(place: Place): TcpProxy;

  /**
   * Texts that no error, location or warning may contain, percent-encoded or in Base64 neither: the passwords in the URLs
   * of places, also of misconfigured ones. It may grow: a proxy of the author's adds the tokens that it sees.
   */
  readonly secrets?: readonly string[];
}

/** A function of a module, by which another process opens a storage. */
export interface ExportedFunction {
  /** The URL of the module. */
  readonly module: string;
  /** Of the export. */
  readonly name: string;
  /** The function's argument. It travels as JSON. */
  readonly options: unknown;
  /**
   * Options of Node.js for the process.
   *
   * @default none
   */
  readonly flags?: readonly string[];
}

/**
 * Something that is away for a time, or a part of it. Others happen to other places at the same time, and it must not affect
 * these, except for a part.
 */
export interface Interruption<Place> {
  /** Begins it, for the storages that are open at a place, and for new ones. */
  begin(place: Place): void | Promise<void>;

  /** Ends it. What was stored is still there. If a part was away, it returns as soon as the part begins to come back. */
  end(place: Place): void | Promise<void>;

  /**
   * What works meanwhile:
   * - `reads`: no write.
   * - `a part`: some calls.
   * - `allWithin`: all, once others have taken over, within so many milliseconds or 20 tries.
   * - `open storages`: it begins while none is open, and no other can be opened.
   */
  readonly leaves: 'nothing' | 'reads' | 'a part' | { readonly allWithin: number } | 'open storages';

  /**
   * Whether calls may be executed although they fail, as when responses are lost. Late writes are then found at a place that has
   * {@link StorageUnderTest.proxyOf}.
   *
   * @default false
   */
  readonly executes?: boolean;

  /**
   * Whether it ends without a change of settings, as that of a network does. Then no cause is a StorageMisconfigured.
   *
   * @default false
   */
  readonly passes?: boolean;

  /**
   * What the operator reads: the message of the StorageMisconfigured that is the cause. An administrator has taken away what is
   * stored, or has put something else in its place.
   *
   * @default there need not be one
   */
  readonly line?: RegExp;
}

/** Whether no write works meanwhile. */
export const isWhole = <Place>({ leaves }: Interruption<Place>) => leaves === 'nothing' || leaves === 'reads';

/** Whether no write works meanwhile, although nothing was taken away. */
export const isOutage = <Place>(each: Interruption<Place>) => isWhole(each) && each.line === undefined;

/** Interruptions by their names. */
export type Interruptions<Place> = Readonly<Record<string, Interruption<Place>>>;

/** What happens to what is stored at a place, past all storages. */
export interface Operator<Place> {
  /** Deletes a pet, as an operator does by hand: without its idempotency key, if that is a record of its own. */
  deletePet?(place: Place, id: bigint): void | Promise<void>;

  /** Sets the counter of ids back to its begin, as a backup of the counter alone does. */
  setCounterBack?(place: Place): void | Promise<void>;

  /**
   * Removes what a place would remove by itself in ten years: each record that has a time to live.
   *
   * @default nothing expires
   */
  expire?(place: Place): void | Promise<void>;
}

/** The URL of a place, by way of a proxy. */
export interface ProxiedPlace {
  readonly url: string;
  readonly proxy: TcpProxy;
}

const NETWORK = { leaves: 'nothing', passes: true } as const;

/**
 * An adapter for a server whose places are URLs with a host and a port, with a TCP proxy before each place. Adds malformed
 * URLs to the misconfigured places, and four interruptions: `silent`, in which the server does not respond, and after which only
 * new connections work; `lost responses`, in which it receives requests; `slow`, in which each response takes 3 seconds; and
 * `cut`, in which connections are reset. The functions that get a URL get that of the proxy.
 *
 * @example storageContract('yours', behindProxy({ freshPlace: newDatabase, open: (url) => createYourStorage({ url }) }))
 */
export function behindProxy({
  freshPlace,
  open,
  misconfiguredPlaces = () => [],
  inAnotherProcess,
  twin,
}: Pick<StorageUnderTest<string>, 'freshPlace' | 'open' | 'misconfiguredPlaces' | 'inAnotherProcess' | 'twin'>) {
  return {
    ...(twin && { twin: async ({ url }: ProxiedPlace) => proxied(await twin(url)) }),
    ...(inAnotherProcess && { inAnotherProcess: ({ url }: ProxiedPlace) => inAnotherProcess(url) }),
    freshPlace: async () => proxied(await freshPlace()),
    open: ({ url }: ProxiedPlace, number: number) => open(url, number),
    proxyOf: ({ proxy }: ProxiedPlace) => proxy,
    async misconfiguredPlaces({ url, proxy }: ProxiedPlace) {
      const malformed = ['', 'localhost', url.replace(/:\d+(?=\/|\?|$)/, ':x')];
      return [...malformed, ...(await misconfiguredPlaces(url))].map((url) => ({ url, proxy }));
    },
    interruptions: {
      silent: { ...NETWORK, begin: ({ proxy }) => proxy.swallow(), end: ({ proxy }) => proxy.passNew() },
      'lost responses': {
        ...{ ...NETWORK, executes: true },
        ...{ begin: ({ proxy }) => proxy.loseResponses(), end: ({ proxy }) => proxy.pass() },
      },
      slow: {
        ...{ ...NETWORK, executes: true },
        ...{ begin: ({ proxy }) => proxy.delayResponses(), end: ({ proxy }) => proxy.pass() },
      },
      cut: { ...NETWORK, begin: ({ proxy }) => proxy.cut(), end: ({ proxy }) => proxy.pass() },
    },
  } satisfies StorageUnderTest<ProxiedPlace>;
}

/** Starts a proxy before the server of a URL with a host and a port. It is closed when the running test ends. */
export async function proxied(place: string): Promise<ProxiedPlace> {
  const url = URL.parse(place);
  if (!url?.port)
    throw new Error(`freshPlace must return a URL with a port, so that a proxy can lead there: "${place}"`);
  const proxy = await startTcpProxy(url.host);
  onTestFinished(() => proxy.close());
  url.host = proxy.addresses[0];
  return { url: url.href, proxy };
}

/** Opens a storage for the running test, which closes it. */
export async function opened<Place>(adapter: StorageUnderTest<Place>, place: Place, number = 0): Promise<Storage> {
  const storage = await adapter.open(place, number);
  onTestFinished(() => storage.close());
  return storage;
}

/** The ports of such a storage. Slow calls are repeated. */
export async function portsAt<Place>(adapter: StorageUnderTest<Place>, place: Place, number = 0): Promise<Ports> {
  return patient(await opened(adapter, place, number));
}

/** What a test of a storage asks for by its parameter. Slow calls of the ports are repeated. */
interface Fixtures<Place> extends Ports {
  /** New and empty. */
  readonly place: Place;
  /** Open at the place. */
  readonly storage: Storage;
  /** Those of the storage. */
  readonly ports: Archived;
}

/** Vitest's `test` for an adapter, as tests of the ports need it. */
export type StorageTest = TestAPI<Ports & { readonly storage: Storage }>;

/** Vitest's `test` for an adapter. Each test gets a place and a storage of its own. */
export function testOf<Place>(adapter: StorageUnderTest<Place>) {
  return test.extend<Fixtures<Place>>({
    // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of other fixtures from it.
    place: async ({}, use: (place: Place) => Promise<void>) => use(await adapter.freshPlace()),
    storage: async ({ place }, use) => use(await opened(adapter, place)),
    ports: ({ storage }, use) => use(patient(storage)),
    pets: ({ ports }, use) => use(ports.pets),
    keys: ({ ports }, use) => use(ports.keys),
  });
}

/** The same, for a storage that has an archive. */
export function archiveTestOf<Place>(adapter: StorageUnderTest<Place>) {
  return testOf(adapter).extend<{ archive: PetArchive }>({
    async archive({ ports: { archive } }, use) {
      expect(archive, 'the archive of the storage').toBeDefined();
      await use(archive as PetArchive);
    },
  });
}
