import type { Pet } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';

/** All members but the limit, whatever they are. */
function keyOf(selection: PetSelection): string {
  let key = '';
  for (const [name, value] of Object.entries(selection)) {
    // Quoted: a text may contain what separates members.
    if (name !== 'limit') key += `${name} ${typeof value === 'string' ? JSON.stringify(value) : value} `;
  }
  return key;
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
  const keys = selections.map(keyOf);
  const longest = new Map<string, PetSelection>();
  for (const [index, selection] of selections.entries()) {
    const key = keys[index] as string;
    const known = longest.get(key);
    if (known === undefined || selection.limit > known.limit) longest.set(key, selection);
  }
  const pages = await read([...longest.values()]);
  const byKey = new Map([...longest.keys()].map((key, index) => [key, pages[index] as readonly Pet[]]));
  return selections.map(({ limit }, index) => (byKey.get(keys[index] as string) as readonly Pet[]).slice(0, limit));
}
