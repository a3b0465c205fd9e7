import { closed, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import type { MongoClient } from 'mongodb';
import type { TimeLimits } from '../time-limits.ts';
import type { ClientSource } from './client-source.ts';
import { hasNoServer, unusableFile } from './deployment.ts';
import { isViolation, toPortError } from './failures.ts';

/** A connection that is made when it is first needed, and made again after a failure. */
export interface Connection<T> {
  /**
   * Runs one call of a port, within the time that a call may take.
   *
   * @throws DomainError `storage_unavailable` for every failure of the driver or the server.
   */
  call<R>(work: (database: T) => Promise<R>): Promise<R>;

  /** Ends what is in flight and closes every socket. Never throws. */
  close(): Promise<void>;
}

/** An open database as a connection needs it. */
interface Opened {
  /** @throws StorageMisconfigured if a newer version has changed the format. */
  check(): Promise<void>;
  stop(): void;
}

/** A client, and what is opened on it. */
interface Opening<T> {
  readonly client: MongoClient;
  readonly database: Promise<T>;
}

/** @param open Prepares what calls work with, on a connected client. After a failure the next call tries again. */
export function createConnection<T extends Opened>(
  clients: ClientSource,
  limits: Pick<TimeLimits, 'call'>,
  open: (client: MongoClient) => Promise<T>,
): Connection<T> {
  let current: Opening<T> | null = null;
  let isClosed = false;

  function begin(): Opening<T> {
    const client = clients.get();
    const opening = { client, database: openOn(client) };
    // Waiting calls get the failure.
    opening.database.catch(() => discard(opening));
    return opening;
  }

  async function openOn(client: MongoClient): Promise<T> {
    await client.connect().catch((failure) => {
      throw unusableFile(client) ?? failure;
    });
    // A client that is closed while it looks up its servers still connects.
    if (isClosed) throw closed();
    return open(client);
  }

  /** Makes the next call open anew, unless another call has done so. Never throws. */
  async function discard(opening: Opening<T>): Promise<void> {
    if (current === opening) current = null;
    opening.database.then((database) => database.stop()).catch(() => {});
    await clients.release(opening.client).catch(() => {});
  }

  /** Stops waiting for work that takes too long. The work itself ends by the limits of its stages. */
  function withTimeout<R>(work: Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      const onTimeout = () => reject(unavailable(new Error(`no response within ${limits.call} ms`)));
      const timer = setTimeout(onTimeout, limits.call);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  async function run<R>(opening: Opening<T>, work: (database: T) => Promise<R>): Promise<R> {
    const database = await opening.database;
    try {
      return await work(database);
    } catch (failure) {
      // A newer version may have changed the schema.
      if (isViolation(failure)) await database.check();
      throw failure;
    }
  }

  return {
    async call(work) {
      if (isClosed) throw closed();
      current ??= begin();
      const opening = current;
      try {
        return await withTimeout(run(opening, work));
      } catch (failure) {
        // A client never recovers from the loss of all its servers. A rejected format is checked again before the next call.
        if (hasNoServer(failure) || StorageMisconfigured.is(failure)) discard(opening);
        throw toPortError(failure, clients.redact);
      }
    },

    async close() {
      isClosed = true;
      if (current !== null) await withTimeout(discard(current)).catch(() => {});
    },
  };
}
