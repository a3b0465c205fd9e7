// The methods of the ports, each with right arguments.

import { ALL_PETS, type PetArchive, type PortMethod, type Ports, type Storage } from '@animal-store/domain/ports';
import { apiKey, rex } from './samples.ts';

/** A method of the ports or of an archive. */
export type Method = PortMethod | `archive.${keyof PetArchive}`;

/** Right arguments of each method. One that is missing here is a compile error. */
const RIGHT = {
  'pets.add': () => [rex()],
  'pets.find': () => [1n],
  'pets.list': () => [{ ...ALL_PETS, after: 0n, limit: 1 }],
  'keys.add': () => [apiKey()],
  'keys.find': () => [apiKey().digest],
  'keys.list': () => [{ after: '', limit: 1 }],
  'keys.recordUse': () => [apiKey().id, 7],
  'keys.revoke': () => [apiKey().id, 5],
  'archive.read': () => [0n, 1],
  'archive.lastId': () => [],
  'archive.skipIds': () => [0n],
  'archive.restore': () => [[]],
} satisfies Record<Method, () => readonly unknown[]>;

export const METHODS = Object.keys(RIGHT) as readonly Method[];

/** The methods that throw a TypeError if their argument is missing. */
export const TYPE_ERRORS = ['pets.add', 'pets.list', 'keys.add', 'keys.list'] as const satisfies readonly Method[];

export const isWrite = (name: string) => /^(pets.add|keys.(add|recordUse|revoke))/.test(name);

export const isOfArchive = (name: Method) => name.startsWith('archive');

/** Calls a method. What it throws is a rejection, too. */
export async function callBy(
  storage: Ports & Pick<Storage, 'archive'>,
  name: Method,
  given: readonly unknown[] = RIGHT[name](),
): Promise<unknown> {
  const [port, method] = name.split('.') as [keyof typeof storage, string];
  const methods = storage[port] as object;
  return Reflect.get(methods, method).apply(methods, given);
}
