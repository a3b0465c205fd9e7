import type { KeyStore } from './api-keys/key-store.ts';
import type { PetStore } from './pets/pet-store.ts';

/** The ports that each storage has. */
export interface Ports {
  readonly pets: PetStore;
  readonly keys: KeyStore;
}

/** A method of a port, by both names: `pets.add`. */
export type PortMethod = { [P in keyof Ports & string]: `${P}.${keyof Ports[P] & string}` }[keyof Ports & string];

/** A method that is missing here is a compile error. */
const METHODS: Readonly<Record<PortMethod, true>> = {
  'pets.add': true,
  'pets.find': true,
  'pets.list': true,
  'keys.add': true,
  'keys.find': true,
  'keys.list': true,
  'keys.revoke': true,
  'keys.prune': true,
  'keys.recordUse': true,
};

type Method = (...given: unknown[]) => Promise<unknown>;

/**
 * The ports with each method wrapped.
 *
 * @param wrap Calls the method by `call`, with the arguments of the caller, or does something else.
 * @example const loud = mapPorts(storage, (call, name) => { console.log(name); return call(); })
 */
export function mapPorts(ports: Ports, wrap: <R>(call: () => Promise<R>, name: PortMethod) => Promise<R>): Ports {
  const mapped: Record<keyof Ports, Record<string, Method>> = { pets: {}, keys: {} };
  for (const name of Object.keys(METHODS) as PortMethod[]) {
    const [port, method] = name.split('.') as [keyof Ports, string];
    const run = Reflect.get(ports[port], method).bind(ports[port]) as Method;
    mapped[port][method] = (...given) => wrap(() => run(...given), name);
  }
  return mapped as unknown as Ports;
}
