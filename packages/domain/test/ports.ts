import { createMemoryStorage } from '@animal-store/adapter-memory';
import { mapPorts, type PortMethod, type Ports, unavailable } from '../src/ports.ts';

/** Ports, by default in memory, together with the names of the methods that were called on them. */
export function observed(ports: Ports = createMemoryStorage()): Ports & { readonly calls: PortMethod[] } {
  const calls: PortMethod[] = [];
  const observe = mapPorts(ports, (method, name) => (...given) => {
    calls.push(name);
    return method(...given);
  });
  return { ...observe, calls };
}

/** The ports of a storage that can't be reached: every call rejects. */
export const UNAVAILABLE: Ports = mapPorts(createMemoryStorage(), () => () => Promise.reject(unavailable()));
