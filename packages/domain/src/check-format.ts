import { StorageMisconfigured } from './errors.ts';

/**
 * Checks the format of what is stored, for an adapter that counts its formats. A published format never changes, not even
 * with a limit of the domain. The next one adds only members that the version before ignores, because both work on one
 * storage during an upgrade. So a version works with every format up to the one after its own.
 *
 * @param name The name of the formatted place, for the operator: `the collection pets`.
 * @param found The number of the stored format.
 * @param own The number of the format that this version creates.
 * @throws StorageMisconfigured if this version can't work with it.
 */
export function checkFormat(name: string, found: number, own: number): void {
  const newest = own + 1;
  if (found <= newest) return;
  throw new StorageMisconfigured(
    `${name} has format ${found}, and this version of Animal Store works with formats up to ${newest}: start a newer version`,
  );
}
