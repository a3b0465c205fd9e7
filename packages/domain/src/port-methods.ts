import type { ApiKeyRepository } from './api-keys/api-key-repository.ts';
import type { PetRepository } from './pets/pet-repository.ts';

/** The ports that each storage has. */
export interface Ports {
  readonly pets: PetRepository;
  readonly keys: ApiKeyRepository;
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
  'keys.recordUse': true,
};

/** Returns the function that is called instead of a method. */
type Wrap = <Given extends unknown[], R>(
  method: (...given: Given) => Promise<R>,
  name: PortMethod,
) => (...given: Given) => Promise<R>;

/**
 * The ports with each method wrapped.
 *
 * @example const loud = mapPorts(storage, (method, name) => (...given) => { console.log(name); return method(...given); })
 */
export function mapPorts(ports: Ports, wrap: Wrap): Ports {
  const mapped: Record<keyof Ports, Record<string, unknown>> = { pets: {}, keys: {} };
  for (const name of Object.keys(METHODS) as PortMethod[]) {
    const [port, method] = name.split('.') as [keyof Ports, string];
    mapped[port][method] = wrap(Reflect.get(ports[port], method).bind(ports[port]), name);
  }
  return mapped as unknown as Ports;
}
