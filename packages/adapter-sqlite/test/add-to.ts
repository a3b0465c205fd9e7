import type { Pet } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';

/** Adds a pet. Returns the stored one, the earlier one, or null: see `PetStore.add`. */
export async function addTo(pets: PetStore | undefined, ...given: Parameters<PetStore['add']>): Promise<Pet | null> {
  return (await pets?.add(...given))?.pet ?? null;
}
