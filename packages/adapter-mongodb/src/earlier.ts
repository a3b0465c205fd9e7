import type { Creation, Idempotency } from '@animal-store/domain/ports';
import type { ClientSession, Filter } from 'mongodb';
import { decodeDocument, type NewDocument, type PetDocument, petOf } from './documents.ts';
import type { Query } from './read.ts';

/** The latest outcome of each creation, by the object of the new pet. null: its idempotency key stands for another pet. */
export type Outcomes = Map<NewDocument, Creation | null | Error>;

/** Finds what was created earlier under the keys of rejected pets, by one query. Returns those that have no key, or a new one. */
export async function findEarlier(
  query: Query,
  rejected: readonly NewDocument[],
  outcomes: Outcomes,
  session: ClientSession,
): Promise<readonly NewDocument[]> {
  const keys = rejected.flatMap(({ idempotency }) => idempotency ?? []);
  if (keys.length === 0) return rejected;
  const documents = await query(keys.length, { filter: { $or: rangesOf(keys) } }, session);
  const earlier = new Map<string, PetDocument>();
  for (const pet of documents.map(decodeDocument)) earlier.set(nameOf(pet.idempotency as Idempotency), pet);
  const rest: NewDocument[] = [];
  for (const pet of rejected) {
    const found = pet.idempotency && earlier.get(nameOf(pet.idempotency));
    if (found === undefined) rest.push(pet);
    else if (found.idempotency?.fingerprint !== pet.idempotency?.fingerprint) outcomes.set(pet, null);
    else outcomes.set(pet, { pet: petOf(found), created: false });
  }
  return rest;
}

/** One range of the index for each holder. */
function rangesOf(keys: readonly Idempotency[]): Filter<PetDocument>[] {
  const byHolder = new Map<string, string[]>();
  for (const { holder, key } of keys) byHolder.set(holder, [...(byHolder.get(holder) ?? []), key]);
  return [...byHolder].map(([holder, $in]) => ({ 'idempotency.holder': holder, 'idempotency.key': { $in } }));
}

/** Key and holder. A key contains no space: the first one ends it. */
const nameOf = ({ holder, key }: Idempotency): string => `${key} ${holder}`;
