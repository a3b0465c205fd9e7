import type { PetStorage } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/**
 * An adapter as the contract needs it. A place stores pets: a path, a URL, an object. Several storages
 * may be open at one place, and what is stored there outlives them.
 */
export interface StorageUnderTest<Place, Storage extends PetStorage = PetStorage> {
  /** Returns a place that is new and empty. Called in a test: remove the place in `onTestFinished`. */
  freshPlace(): Place | Promise<Place>;

  /** Opens a storage at a place. The contract closes it. */
  open(place: Place): Storage | Promise<Storage>;

  /**
   * The ways in which a place can become unavailable while the process runs, by name: `locked`, `read-only`.
   * {@link behindProxy} adds those of a network. 'not tested': nothing shows that calls fail in time, and that the storage
   * recovers.
   */
  readonly outages: Outages<Place> | 'not tested';

  /** Returns a place that works only if its settings change: a wrong password, a folder instead of a file. */
  misconfiguredPlace?(): Place | Promise<Place>;

  /** Texts that no error, location or warning may contain: the password in the URL of a place. */
  readonly secrets?: readonly string[];
}

/** Outages by their names. */
export type Outages<Place> = Readonly<Record<string, Outage<Place>>>;

/** A way in which a place can become unavailable. */
export interface Outage<Place> {
  /** Makes a place unavailable, at least for writing, to the storages that are open there and to new ones. */
  begin(place: Place): void | Promise<void>;

  /** Makes it available again. What was stored is still there. */
  end(place: Place): void | Promise<void>;
}

/** The URL of a place, by way of a proxy. */
export interface ProxiedPlace {
  readonly url: string;
  readonly proxy: TcpProxy;
}

/**
 * An adapter for a server whose places are URLs with a host and a port, with a TCP proxy before each place. Adds three
 * outages: `silent`, in which the server does not respond, `lost responses`, in which it receives requests, and `cut`, in
 * which connections are reset.
 *
 * @example storageContract('yours', behindProxy({ freshPlace: newDatabase, open: (url) => createYourStorage({ url }) }))
 */
export function behindProxy<Storage extends PetStorage>(
  adapter: Omit<StorageUnderTest<string, Storage>, 'outages'>,
): Omit<StorageUnderTest<ProxiedPlace, Storage>, 'outages'> & { readonly outages: Outages<ProxiedPlace> } {
  const { freshPlace, open, misconfiguredPlace, ...rest } = adapter;
  return {
    ...rest,
    freshPlace: async () => proxied(await freshPlace()),
    open: ({ url }) => open(url),
    ...(misconfiguredPlace && { misconfiguredPlace: async () => proxied(await misconfiguredPlace()) }),
    outages: {
      silent: { begin: ({ proxy }) => proxy.swallow(), end: ({ proxy }) => proxy.pass() },
      'lost responses': { begin: ({ proxy }) => proxy.loseResponses(), end: ({ proxy }) => proxy.pass() },
      cut: { begin: ({ proxy }) => proxy.cut(), end: ({ proxy }) => proxy.pass() },
    },
  };
}

async function proxied(text: string): Promise<ProxiedPlace> {
  const url = new URL(text);
  if (url.port === '') throw new Error('the URL of a place must name its port, so that a proxy can lead there');
  const proxy = await startTcpProxy(url.host);
  onTestFinished(() => proxy.close());
  url.host = proxy.address;
  return { url: url.href, proxy };
}

/** Opens a storage for the running test, which closes it. */
export async function opened<Place, Storage extends PetStorage>(
  { open }: StorageUnderTest<Place, Storage>,
  place: Place,
): Promise<Storage> {
  const storage = await open(place);
  onTestFinished(async () => {
    await storage.close();
  });
  return storage;
}

/** Opens a storage at a new place for the running test. */
export async function emptyStorage<Place, Storage extends PetStorage>(
  adapter: StorageUnderTest<Place, Storage>,
): Promise<Storage> {
  return opened(adapter, await adapter.freshPlace());
}
