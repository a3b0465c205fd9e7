import {
  type ApiKeyRepository,
  type PetArchive,
  type PetRepository,
  requireTime,
  requiringTimes,
  type Storage,
} from '@animal-store/domain/ports';
import { type Call, createResource, type Resource, type ResourceOptions } from './resource.ts';

/** The methods of a port as functions, each with its call as its first argument. */
export type Methods<Port, Connection> = {
  readonly [Name in keyof Port]: Port[Name] extends (...given: infer Given) => infer Result
    ? (call: Call<Connection>, ...given: Given) => Result
    : never;
};

/** What differs between storages: how a connection is opened, and what each method of the ports does on it. */
export interface Driver<Connection> extends ResourceOptions<Connection> {
  readonly pets: Methods<PetRepository, Connection>;
  readonly keys: Methods<ApiKeyRepository, Connection>;
  /** Without it, pets can't be moved to this storage and from it. */
  readonly archive?: Methods<PetArchive, Connection>;
  /** Rejects unless the storage can be read and written now. */
  ready(call: Call<Connection>): Promise<void>;
  /** Where the pets are, for logs, without credentials: `db1:27017`. */
  readonly location: string;
  /** Insecure settings, one line each for the operator, without credentials. */
  readonly warnings?: readonly string[];
}

/**
 * A storage whose first call opens the connection. All calls share it, end in time, and fail with the errors of the ports. A
 * wrong time is an error before the method is called.
 *
 * @param resource The connection. A storage of files passes its own to open it at the start:
 * `const file = createResource(driver); await file.call(check); return createStorage(driver, file)`.
 * @example createStorage({ open: connect, close: (client) => client.end(), isLost, pets, keys, ready, location: 'db1:27017' })
 */
export function createStorage<Connection>(
  driver: Driver<Connection>,
  resource: Resource<Connection> = createResource(driver),
): Storage {
  const { pets, keys, archive, location, warnings } = driver;
  const { close } = resource;

  const bound =
    <Given extends unknown[], Result>(method: (call: Call<Connection>, ...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> =>
      resource.call((call) => method(call, ...given));

  return {
    pets: { add: bound(pets.add), find: bound(pets.find), list: bound(pets.list) },
    keys: requiringTimes({
      add: bound(keys.add),
      find: bound(keys.find),
      list: bound(keys.list),
      revoke: bound(keys.revoke),
      recordUse: bound(keys.recordUse),
    }),
    ...(archive && {
      archive: {
        read: bound(archive.read),
        async restore(pets) {
          for (const { createdAt } of pets) requireTime(createdAt);
          return resource.call((call) => archive.restore(call, pets));
        },
        lastId: bound(archive.lastId),
        skipIds: bound(archive.skipIds),
      },
    }),
    location,
    ...(warnings && { warnings }),
    ready: bound(driver.ready),
    close,
    [Symbol.asyncDispose]: close,
  };
}
