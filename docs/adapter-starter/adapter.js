import { createStorage } from '@animal-store/adapter-kit';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

/** Stands for a server: shelves outlive the storages that are opened on them. */
const shelves = new Map();

/** Stands for the client of a driver. */
async function connect(shelf) {
  if (!shelves.has(shelf)) shelves.set(shelf, createMemoryStorage());
  return shelves.get(shelf);
}

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

/** @type {import('@animal-store/domain/ports').StorageAdapter} */
export const adapter = {
  portsVersion: 1,
  description: 'the shelves of Acme',
  variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: true },
  async open(shelf) {
    if (!shelf.startsWith('shelf:')) throw new StorageMisconfigured('it must begin with shelf:');
    return createStorage({
      open: () => connect(shelf),
      close: async () => {},
      isLost: (failure) => failure.name === 'TimeoutError',
      // A defect is no outage.
      toPortError: (failure) => (failure instanceof TypeError ? failure : unavailable(failure)),
      ...{ pets, keys },
      ready: ({ connection }) => connection.ready(),
      location: 'Acme',
      warnings: ['shelves are made of glass'],
    });
  },
};
