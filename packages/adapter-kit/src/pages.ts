import type { Pet } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';

/** Whether another selection has all members of one but the limit, whatever they are. */
function hasMembersOf(one: PetSelection, other: PetSelection): boolean {
  for (const name in one) {
    if (name !== 'limit' && one[name as keyof PetSelection] !== other[name as keyof PetSelection]) return false;
  }
  return true;
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
  const longest: PetSelection[] = [];
  /** The positions in `longest` of the lists behind a pet. There are few: comparing them takes a third of a key as text. */
  const byStart = new Map<bigint, number[]>();
  const positions = selections.map((selection) => {
    const known = byStart.get(selection.after) ?? [];
    const position = known.find((each) => {
      const other = longest[each] as PetSelection;
      return hasMembersOf(selection, other) && hasMembersOf(other, selection);
    });
    if (position === undefined) {
      byStart.set(selection.after, [...known, longest.length]);
      return longest.push(selection) - 1;
    }
    if (selection.limit > (longest[position] as PetSelection).limit) longest[position] = selection;
    return position;
  });
  const pages = await read(longest);
  return selections.map(({ limit }, index) => (pages[positions[index] as number] as readonly Pet[]).slice(0, limit));
}
