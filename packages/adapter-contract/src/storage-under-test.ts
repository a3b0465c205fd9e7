import type { Ports, Storage } from '@animal-store/domain/ports';
import { onTestFinished, type TestAPI, test } from 'vitest';
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
   * Returns another place, new and empty, that has the same name in another engine: the same database on another server, a file of
   * the same name in another folder. A module may keep by the name alone what belongs to one of them.
   */
  twin?(place: Place): Place | Promise<Place>;

  /** Opens a storage at a place. The contract closes it. */
  open(place: Place): Storage | Promise<Storage>;

  /**
   * The ways in which a place can become unavailable while the process runs, by name: `locked`, `read-only`, `throttled`,
   * `credentials expired`, `no right to write`. {@link behindProxy} adds those of a network. 'not tested': nothing shows that calls fail in time.
   */
  readonly outages: Outages<Place> | 'not tested';

  /**
   * The ways in which a part of a place can become unavailable, by name: `a partition`, `the leader`, `another node of three`.
   * The rest works, and may take over what the part has done. Also `every node`, killed and started again: nothing else shows that
   * it is not in their memory only.
   */
  readonly partialOutages?: PartialOutages<Place>;

  /**
   * The ways in which writes can wait at a place for longer than a call may take, by name: another program's lock of a table,
   * and of rows, because a read before a write waits for the first kind only. Reads may work meanwhile. It needs an archive, which
   * says when a pet was created.
   */
  readonly waits?: Outages<Place>;

  /**
   * Places as a cluster serves them and an emulator doesn't, by name: `a replica that lags`, `calls that are throttled`. Each
   * leads a new place through a proxy of the author's, and all tests of calls and of an archive run there, too.
   */
  readonly behind?: Readonly<Record<string, (place: Place) => Place | Promise<Place>>>;

  /**
   * The ways in which an administrator can take away what is stored at a place while a storage has it open, and bring it back,
   * by name: a table that is renamed, a file that is moved, a place or one of its partitions that is dropped and created anew,
   * empty.
   */
  readonly losses?: Readonly<Record<string, Loss<Place>>>;

  /**
   * Returns places that work only if their settings change: a wrong password, a folder instead of a file. They differ from a right
   * one, which is open at the same time, in that alone: a storage may work by what the process has of another.
   */
  misconfiguredPlaces?(right: Place): readonly Place[] | Promise<readonly Place[]>;

  /** Gives what is stored at a place, which no storage has open, the format of a later version, and takes it back. */
  readonly laterFormat?: Outage<Place>;

  /**
   * Removes what a place would remove by itself in ten years: each record that has a time to live, whoever has set it.
   *
   * @default nothing expires
   */
  expire?(place: Place): void | Promise<void>;

  /** Deletes a pet from a place, as an operator does by hand: without its idempotency key, if that is a record of its own. */
  deletePet?(place: Place, id: bigint): void | Promise<void>;

  /** Sets the counter of ids at a place back to its begin, as a backup of the counter alone does. */
  setCounterBack?(place: Place): void | Promise<void>;

  /**
   * How another process opens a storage at a place. The state of a module is that of one process: without this nobody sees
   * locks and caches that hide the other processes.
   *
   * @example
   * const module = import.meta.resolve('@acme/adapter');
   * const inAnotherProcess = (url) => ({ module, name: 'createAcmeStorage', options: { url } });
   */
  inAnotherProcess?(place: Place): ExportedFunction;

  /**
   * The proxy before a place, for tests that close and count connections. {@link behindProxy} gives it, and `joinProxies` makes
   * one of several.
   */
  proxyOf?(place: Place): TcpProxy;

  /**
   * Texts that no error, location or warning may contain, percent-encoded or in Base64 neither: the password in the URL of a
   * place. It may grow: a proxy of the author's adds the tokens that it sees.
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

/** Outages by their names. */
export type Outages<Place> = Readonly<Record<string, Outage<Place>>>;

/** A way in which a place can become unavailable. Others happen to other places at the same time: it must not affect these. */
export interface Outage<Place> {
  /** Makes a place unavailable, at least for writing, to the storages that are open there and to new ones. */
  begin(place: Place): void | Promise<void>;

  /** Makes it available again. What was stored is still there. */
  end(place: Place): void | Promise<void>;

  /**
   * Whether calls may be executed although they fail, as when responses are lost.
   *
   * @default false
   */
  readonly executes?: boolean;

  /**
   * Whether it ends without a change of settings, as that of a network does. Then no cause is a StorageMisconfigured, with
   * which a process that starts would end.
   *
   * @default false
   */
  readonly passes?: boolean;
}

/** Partial outages by their names. */
export type PartialOutages<Place> = Readonly<Record<string, PartialOutage<Place>>>;

/**
 * A way in which a part of a place can become unavailable. It may affect other places: there is one at a time. `end` returns as soon
 * as the part begins to come back: what calls say meanwhile is looked at, too.
 */
export interface PartialOutage<Place> extends Outage<Place> {
  /**
   * How long others may need to take over, in milliseconds or 20 tries, as in a cluster of three that loses one: 15_000. Then each
   * call works while the part is away, and finds all that was acknowledged before.
   *
   * @default nothing takes over
   */
  readonly takenOverWithin?: number;
}

/** A way in which an administrator can take away what is stored. */
export interface Loss<Place> extends Outage<Place> {
  /**
   * What the operator reads: the message of the StorageMisconfigured that is the cause.
   *
   * @default there need not be one
   */
  readonly line?: RegExp;
}

/** The URL of a place, by way of a proxy. */
export interface ProxiedPlace {
  readonly url: string;
  readonly proxy: TcpProxy;
}

/**
 * An adapter for a server whose places are URLs with a host and a port, with a TCP proxy before each place. Adds malformed
 * URLs to the misconfigured places, and four outages: `silent`, in which the server does not respond, and after which only
 * new connections work; `lost responses`, in which it receives requests; `slow`, in which each response takes 3 seconds; and
 * `cut`, in which connections are reset.
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
    open: ({ url }: ProxiedPlace) => open(url),
    proxyOf: ({ proxy }: ProxiedPlace) => proxy,
    async misconfiguredPlaces({ url, proxy }: ProxiedPlace) {
      const malformed = ['', 'localhost', url.replace(/:\d+(?=\/|\?|$)/, ':x')];
      return [...malformed, ...(await misconfiguredPlaces(url))].map((url) => ({ url, proxy }));
    },
    outages: {
      silent: { begin: ({ proxy }) => proxy.swallow(), end: ({ proxy }) => proxy.passNew(), passes: true },
      'lost responses': {
        begin: ({ proxy }) => proxy.loseResponses(),
        end: ({ proxy }) => proxy.pass(),
        executes: true,
        passes: true,
      },
      slow: {
        begin: ({ proxy }) => proxy.delayResponses(),
        end: ({ proxy }) => proxy.pass(),
        executes: true,
        passes: true,
      },
      cut: { begin: ({ proxy }) => proxy.cut(), end: ({ proxy }) => proxy.pass(), passes: true },
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
  url.host = proxy.address;
  return { url: url.href, proxy };
}

/** The same adapter, whose new places are led through a proxy of its author. */
export const leading = <Place>(
  adapter: StorageUnderTest<Place>,
  lead: (place: Place) => Place | Promise<Place>,
): StorageUnderTest<Place> => ({ ...adapter, freshPlace: async () => lead(await adapter.freshPlace()) });

/** Opens a storage for the running test, which closes it. */
export async function opened<Place>({ open }: StorageUnderTest<Place>, place: Place): Promise<Storage> {
  const storage = await open(place);
  onTestFinished(() => storage.close());
  return storage;
}

/** What a test of a storage asks for by its parameter. */
interface Fixtures<Place> extends Ports {
  /** New and empty. */
  readonly place: Place;
  /** Open at the place. */
  readonly storage: Storage;
}

/** Vitest's `test` for an adapter, as tests of the ports need it. */
export type StorageTest = TestAPI<Ports>;

/** Vitest's `test` for an adapter. Each test gets a place and a storage of its own. */
export function testOf<Place>(adapter: StorageUnderTest<Place>) {
  return test.extend<Fixtures<Place>>({
    // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of other fixtures from it.
    place: async ({}, use: (place: Place) => Promise<void>) => use(await adapter.freshPlace()),
    storage: async ({ place }, use) => use(await opened(adapter, place)),
    pets: ({ storage }, use) => use(storage.pets),
    keys: ({ storage }, use) => use(storage.keys),
  });
}
