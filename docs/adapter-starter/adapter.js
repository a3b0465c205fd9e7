import { createMemoryStorage } from '@animal-store/adapter-memory';
import { closed, mapPorts, StorageMisconfigured } from '@animal-store/domain/ports';

/** Stands for a server: shelves outlive the storages that are opened on them. */
const shelves = new Map();

/** @type {import('@animal-store/domain/ports').StorageAdapter} */
export const adapter = {
  portsVersion: 1,
  description: 'the shelves of Acme',
  variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: true },
  async open(shelf) {
    if (!shelf.startsWith('shelf:')) throw new StorageMisconfigured('it must begin with shelf:');
    if (!shelves.has(shelf)) shelves.set(shelf, createMemoryStorage());
    let isOpen = true;
    const whileOpen =
      (method) =>
      async (...given) => {
        if (!isOpen) throw closed();
        return method(...given);
      };
    const close = async () => {
      isOpen = false;
    };
    return {
      ...mapPorts(shelves.get(shelf), whileOpen),
      ready: whileOpen(async () => {}),
      location: 'Acme',
      warnings: ['shelves are made of glass'],
      close,
      [Symbol.asyncDispose]: close,
    };
  },
};
