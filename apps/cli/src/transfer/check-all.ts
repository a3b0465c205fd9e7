import { checkedNewPet, DomainError } from '@animal-store/domain';
import type { PetOfFile, TransferEvents } from './read-pets.ts';

/** Checks pets as the use case does that would create them. */
export async function checkAll(
  arrays: AsyncIterable<readonly PetOfFile[]>,
  { onDone, onRejected }: TransferEvents,
): Promise<void> {
  for await (const pets of arrays) {
    for (const each of pets) {
      const reason = each.error ?? violationOf(() => checkedNewPet(each.pet));
      if (reason === null) onDone(true);
      else if (!onRejected(each, reason)) return;
    }
  }
}

function violationOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!DomainError.is(error)) throw error;
    return error.message;
  }
}
