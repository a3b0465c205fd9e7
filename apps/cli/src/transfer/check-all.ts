import { checkedNewPet, DomainError } from '@animal-store/domain';
import type { PetOfFile } from '../pet-files/read-pets.ts';
import type { Tally } from './tally.ts';

/**
 * Checks pets as the use case does that would create them.
 *
 * @throws The reason of the signal if it is aborted before the last pet.
 */
export async function checkAll(
  chunks: AsyncIterable<Iterable<PetOfFile>>,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  for await (const pets of chunks) {
    for (const each of pets) {
      signal.throwIfAborted();
      const reason = each.error ?? violationOf(each.pet);
      if (reason === null) tally.add(true);
      else tally.reject(each, reason);
      if (tally.isFull) return;
    }
  }
}

function violationOf(pet: unknown): string | null {
  try {
    checkedNewPet(pet);
    return null;
  } catch (error) {
    if (!DomainError.is(error)) throw error;
    return error.message;
  }
}
