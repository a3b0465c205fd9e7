import { DomainError } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import { createAwaitableCatalogue } from '@animal-store/domain/transport';
import type { PetOfFile } from './read-pets.ts';
import type { TransferEvents } from './transfer-events.ts';

/** Stores nothing. */
const NOWHERE: PetStore = {
  add: (newPet) => ({ id: 1n, ...newPet }),
  find: () => null,
  list: () => [],
};

/** Passes pets to the use case that would create them, without a storage. */
export async function checkAll(
  arrays: AsyncIterable<readonly PetOfFile[]>,
  { onDone, onRejected }: TransferEvents,
): Promise<void> {
  const { createPet } = createAwaitableCatalogue(NOWHERE);
  for await (const pets of arrays) {
    for (const each of pets) {
      const reason = each.error ?? violationOf(() => createPet(each.pet));
      if (reason === null) onDone();
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
