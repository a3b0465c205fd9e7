import type { Pet } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';

/** All members but the limit, whatever they are. JSON has no bigint. */
function keyOf({ limit: _, ...list }: PetSelection): string {
  return JSON.stringify(list, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

/**
 * Reads the pages of several calls. Those of the same list that begin behind the same pet are parts of the longest of them,
 * which is read once.
 *
 * @param read Returns the pages of different lists, in their order.
 */
export async function readPages(
  selections: readonly PetSelection[],
  read: (longest: readonly PetSelection[]) => Promise<readonly (readonly Pet[])[]>,
): Promise<readonly (readonly Pet[])[]> {
  if (selections.length === 1) return read(selections);
  const ascending = selections.toSorted((a, b) => a.limit - b.limit);
  const longest = new Map(ascending.map((selection) => [keyOf(selection), selection]));
  const pages = await read([...longest.values()]);
  const byKey = new Map([...longest.keys()].map((key, index) => [key, pages[index] as readonly Pet[]]));
  return selections.map((selection) => (byKey.get(keyOf(selection)) as readonly Pet[]).slice(0, selection.limit));
}
