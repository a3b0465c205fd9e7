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
  add: (client, newPet, idempotency) => client.pets.add(newPet, idempotency),
  find: (client, id) => client.pets.find(id),
  list: (client, selection) => client.pets.list(selection),
};

const keys = {
  add: (client, key) => client.keys.add(key),
  find: (client, digest) => client.keys.find(digest),
  list: (client, selection) => client.keys.list(selection),
  revoke: (client, id, at) => client.keys.revoke(id, at),
  recordUse: (client, id, at) => client.keys.recordUse(id, at),
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
      ready: (client) => client.ready(),
      location: 'Acme',
      warnings: ['shelves are made of glass'],
    });
  },
};
