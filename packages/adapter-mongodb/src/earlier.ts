import type { Pet } from '@animal-store/domain';
import type { Idempotency } from '@animal-store/domain/ports';
import type { Filter } from 'mongodb';
import { decodeDocument, decodePet, type PetDocument } from './documents.ts';
import type { Fence } from './fence.ts';
import type { Query } from './read.ts';

/** A pet that was created under an idempotency key, and what its creation asked for. */
interface EarlierPet {
  readonly pet: Pet;
  readonly fingerprint: string;
}

/**
 * Finds the pets of the idempotency keys of rejected insertions. One query serves thousands.
 *
 * @returns The pet of each key, in their order; undefined if it has none, and for an insertion without a key.
 */
export async function findEarlierPets(
  query: Query,
  fence: Fence,
  rejected: readonly (Idempotency | undefined)[],
): Promise<(EarlierPet | undefined)[]> {
  const keys = rejected.flatMap((key) => key ?? []);
  if (keys.length === 0) return rejected.map(() => undefined);
  const documents = await fence.read((session) => query(keys.length, { filter: { $or: rangesOf(keys) } }, session));
  const earlier = new Map(
    documents.map((bytes) => {
      const { idempotency } = decodeDocument(bytes) as { readonly idempotency: Idempotency };
      return [nameOf(idempotency), { pet: decodePet(bytes), fingerprint: idempotency.fingerprint }];
    }),
  );
  return rejected.map((key) => key && earlier.get(nameOf(key)));
}

/** One range of the index for each holder. */
function rangesOf(keys: readonly Idempotency[]): Filter<PetDocument>[] {
  const byHolder = new Map<string, string[]>();
  for (const { holder, key } of keys) byHolder.set(holder, [...(byHolder.get(holder) ?? []), key]);
  return [...byHolder].map(([holder, $in]) => ({ 'idempotency.holder': holder, 'idempotency.key': { $in } }));
}

/** Key and holder. A key contains no space: the first one ends it. */
const nameOf = ({ holder, key }: Idempotency): string => `${key} ${holder}`;
