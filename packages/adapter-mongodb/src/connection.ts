import { DomainError } from '@animal-store/domain';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { type Collections, collectionsOf, prepareCollections, readLinearizable } from './collections.ts';
import { readUrl } from './connection-url.ts';
import { checkDeployment, hasNoServer } from './deployment.ts';
import { asThrown, unavailable } from './failures.ts';
import { createReadBarrier, followPrimary, type ReadBarrier } from './read-barrier.ts';
import type { TimeLimits } from './time-limits.ts';

/** A connection that is made when it is first needed, and made again after a failure. */
export interface Connection {
  /** The servers that the URL names, `host:port` and comma-separated. */
  readonly servers: string;

  /**
   * Works with the collections, within the time that a call may take.
   *
   * @throws DomainError `storage_unavailable` for every failure of the driver or the server.
   */
  call<T>(work: (collections: Collections) => Promise<T>): Promise<T>;

  /** The same for reads, whose result contains every write that was acknowledged before the call, by any process. */
  read<T>(work: (collections: Collections) => Promise<T>): Promise<T>;

  /** Ends what is under way and lets go of every socket. Never throws. */
  close(): Promise<void>;
}

/** A database that can be worked with. */
interface OpenDatabase {
  readonly collections: Collections;
  readonly barrier: ReadBarrier;
}

/** @throws StorageMisconfigured if the URL can't be used. */
export function createConnection(url: string, limits: TimeLimits): Connection {
  const options: MongoClientOptions = {
    appName: 'animal-store',
    serverSelectionTimeoutMS: limits.serverSelection,
    connectTimeoutMS: limits.connect,
    waitQueueTimeoutMS: limits.queue,
    socketTimeoutMS: limits.socket,
    heartbeatFrequencyMS: limits.heartbeat,
    // Whatever the URL says: a secondary may not have heard yet of what is there.
    readPreference: 'primary',
    retryReads: true,
    retryWrites: true,
    // Without it an int64 is sometimes a number and sometimes an object.
    useBigInt64: true,
  };
  const { redact, servers } = readUrl(url, options);
  let client: MongoClient | null = null;
  let opening: Promise<OpenDatabase> | null = null;
  let closed = false;

  function opened(): Promise<OpenDatabase> {
    if (closed) return Promise.reject(new DomainError('storage_unavailable', 'the storage is closed'));
    opening ??= open();
    return opening;
  }

  async function open(): Promise<OpenDatabase> {
    // A client whose first connection failed stays useless: each try is made with a new one. Once connected, it follows
    // the servers through every outage by itself.
    const current = new MongoClient(url, options);
    client = current;
    const primary = followPrimary(current);
    try {
      await current.connect();
      // The driver goes on connecting where it was closed before it had looked up the servers.
      if (closed) throw new DomainError('storage_unavailable', 'the storage is closed');
      await checkDeployment(current);
      const collections = collectionsOf(current.db(), limits);
      await prepareCollections(collections);
      const barrier = createReadBarrier(primary, () => readLinearizable(collections, limits));
      return { collections, barrier };
    } catch (failure) {
      opening = null;
      current.close().catch(() => {});
      throw failure instanceof DomainError ? failure : unavailable(failure, redact);
    }
  }

  /** Has the next call connect anew, unless another call has brought that about. */
  function discard(used: Promise<OpenDatabase>): void {
    if (opening !== used) return;
    opening = null;
    client?.close().catch(() => {});
  }

  /** Ends the wait for something that takes too long; it ends by itself, by the limits of its stages. */
  function withTimeout<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = () => reject(unavailable(new Error(`no answer within ${limits.call} ms`), redact));
      const timer = setTimeout(late, limits.call);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  async function run<T>(work: (database: OpenDatabase) => Promise<T>): Promise<T> {
    const used = opened();
    try {
      return await withTimeout(used.then(work));
    } catch (failure) {
      // The one outage that a client does not follow: it never again looks at a server that was no member for a moment.
      if (hasNoServer(failure)) discard(used);
      throw asThrown(failure, redact);
    }
  }

  return {
    servers,

    call: (work) => run(({ collections }) => work(collections)),

    read: (work) => run(({ collections, barrier }) => barrier(() => work(collections))),

    async close() {
      closed = true;
      if (client !== null) await withTimeout(client.close()).catch(() => {});
    },
  };
}
