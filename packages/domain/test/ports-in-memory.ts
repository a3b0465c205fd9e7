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

/** Records of API keys in an array. */
export function keysInMemory(): KeyStore {
  let keys: readonly ApiKey[] = [];
  const find = (id: string) => keys.find((key) => key.id === id) ?? null;
  const change = (id: string, changes: Partial<ApiKey>) => {
    keys = keys.map((key) => (key.id === id ? { ...key, ...changes } : key));
  };

  return {
    async add(key) {
      keys = [...keys, key];
    },
    find: async (digest) => keys.find((key) => key.digest === digest) ?? null,
    list: async () => keys,
    async revoke(id, at) {
      change(id, { revokedAt: find(id)?.revokedAt ?? at });
      return find(id);
    },
    async prune(before) {
      const kept = keys.filter(({ expiresAt }) => expiresAt === null || expiresAt >= before);
      const removed = keys.length - kept.length;
      keys = kept;
      return removed;
    },
    recordUse: async (id, at) => change(id, { lastUsedAt: at }),
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
  const noting = everyCall(port, (call, method) => {
    calls.push(method);
    return call();
  });
  return { port: noting, calls };
}

function everyCall<Port extends object>(port: Port, run: (call: () => unknown, method: string) => unknown): Port {
  const methods = Object.entries(port).map(([name, method]) => [
    name,
    (...given: unknown[]) => run(() => method(...given), name),
  ]);
  return Object.fromEntries(methods) as Port;
}
