import type { ApiKey, NewPet, Pet } from '@animal-store/domain';
import { fingerprint, type Idempotency, type PetStorage, type PetStore } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { createPostgresStorage } from '../src/index.ts';

export const rex: NewPet = { name: 'Rex', categoryId: 1n, status: 'sold' };

/** A storage that is closed when the running test ends. */
export function openStorage(url: string): PetStorage {
  const storage = createPostgresStorage({ url });
  onTestFinished(() => storage.close());
  return storage;
}

export function idempotent(key: string, newPet: NewPet = rex): Idempotency {
  return { holder: 'the zoo', key, fingerprint: fingerprint(newPet) };
}

/** Adds a pet. Returns the stored one, the earlier one, or null: see `PetStore.add`. */
export async function addTo(pets: PetStore, ...given: Parameters<PetStore['add']>): Promise<Pet | null> {
  return (await pets.add(...given))?.pet ?? null;
}

/** A record with a digest of its own for each number from 0 to 9. */
export function apiKey(number: number): ApiKey {
  const digest = String(number).repeat(64);
  return {
    id: digest.slice(0, 16),
    digest,
    visiblePrefix: 'anst_0000',
    holder: 'the zoo',
    createdAt: number,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}
