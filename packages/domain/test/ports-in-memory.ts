import type { ApiKey } from '../src/api-keys/api-key.ts';
import type { KeyStore } from '../src/api-keys/key-store.ts';
import { DomainError } from '../src/errors.ts';
import type { Pet } from '../src/pets/pet.ts';
import type { PetStore } from '../src/pets/pet-store.ts';

/** Pets in an array: as little of a storage as the use cases need. */
export function petsInMemory(): PetStore {
  const pets: Pet[] = [];
  const created = new Map<string, { fingerprint: string; pet: Pet }>();

  return {
    async add(newPet, idempotency) {
      const name = JSON.stringify([idempotency?.holder, idempotency?.key]);
      const earlier = idempotency && created.get(name);
      if (earlier !== undefined) {
        return earlier.fingerprint === idempotency?.fingerprint ? { pet: earlier.pet, created: false } : null;
      }
      const pet: Pet = { id: BigInt(pets.length + 1), ...newPet };
      pets.push(pet);
      if (idempotency !== undefined) created.set(name, { fingerprint: idempotency.fingerprint, pet });
      return { pet, created: true };
    },
    find: async (id) => pets.find((pet) => pet.id === id) ?? null,
    async list({ status, after, limit }) {
      return pets.filter((pet) => pet.id > after && (status === undefined || pet.status === status)).slice(0, limit);
    },
  };
}

/** Records of API keys by id. */
export function keysInMemory(): KeyStore {
  const keys = new Map<string, ApiKey>();
  function change(id: string, changes: Partial<ApiKey>): ApiKey | null {
    const key = keys.get(id);
    if (key !== undefined) keys.set(id, { ...key, ...changes });
    return keys.get(id) ?? null;
  }

  return {
    add: async (key) => void keys.set(key.id, key),
    find: async (digest) => [...keys.values()].find((key) => key.digest === digest) ?? null,
    list: async () => [...keys.values()],
    revoke: async (id, at) => change(id, { revokedAt: keys.get(id)?.revokedAt ?? at }),
    async prune(before) {
      const expired = [...keys.values()].filter(({ expiresAt }) => expiresAt !== null && expiresAt < before);
      for (const { id } of expired) keys.delete(id);
      return expired.length;
    },
    recordUse: async (id, at) => void change(id, { lastUsedAt: at }),
  };
}

/** The same port on a storage that can't be reached: every call rejects. */
export function unavailable<Port extends object>(port: Port): Port {
  return everyCall(port, async () => {
    throw new DomainError('storage_unavailable', 'unavailable');
  });
}

/** A port together with the names of the methods that were called on it. */
export function observed<Port extends object>(port: Port): { port: Port; calls: string[] } {
  const calls: string[] = [];
  const observe = (call: () => unknown, name: string) => {
    calls.push(name);
    return call();
  };
  return { port: everyCall(port, observe), calls };
}

function everyCall<Port extends object>(port: Port, run: (call: () => unknown, name: string) => unknown): Port {
  const wrap = ([name, method]: [string, (...given: unknown[]) => unknown]) => [
    name,
    (...given: unknown[]) => run(() => method(...given), name),
  ];
  return Object.fromEntries(Object.entries(port).map(wrap)) as Port;
}
