import { createStorage } from '@animal-store/adapter-kit';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

const pets = {
  add: ({ connection }, newPet, idempotency) => connection.pets.add(newPet, idempotency),
  find: ({ connection }, id) => connection.pets.find(id),
  list: ({ connection }, selection) => connection.pets.list(selection),
};

const keys = {
  add: ({ connection }, key) => connection.keys.add(key),
  find: ({ connection }, digest) => connection.keys.find(digest),
  list: ({ connection }, selection) => connection.keys.list(selection),
  revoke: ({ connection }, id, at) => connection.keys.revoke(id, at),
  recordUse: ({ connection }, id, at) => connection.keys.recordUse(id, at),
};

/** A defect, such as a violated constraint, is no outage. */
const isDefect = (failure) => failure instanceof TypeError || failure.code === 'ERR_SQLITE_ERROR';

/** Exported for tests: another process opens a storage by its name. */
export async function openShelf(shelf, options) {
  const [, file] = /^shelf:(.+)$/.exec(shelf) ?? [];
  if (file === undefined) throw new StorageMisconfigured('it must begin with shelf:');
  return createStorage({
    // Stands for the client of a driver, and its file for a server.
    open: () => createSqliteStorage({ file, ...options }),
    close: (client) => client.close(),
    isLost: (failure) => failure.name === 'TimeoutError',
    toPortError: (failure) => (isDefect(failure) ? failure : unavailable(failure)),
    ...{ pets, keys },
    ready: ({ connection }) => connection.ready(),
    location: 'Acme',
    warnings: ['shelves are made of glass'],
  });
}

/** @type {import('@animal-store/domain/ports').StorageAdapter} */
export const adapter = {
  portsVersion: 1,
  description: 'the shelves of Acme',
  variable: { name: 'ACME_SHELF', example: 'shelf:zoo.db', secret: true },
  open: openShelf,
};
