import { StorageMisconfigured } from './errors.ts';

/**
 * Checks the format of what is stored when it is opened, for an adapter that counts its formats. A version works with its own
 * format only.
 *
 * @param name The name of the formatted place, for the operator: `the collection pets`.
 * @param found The number of the stored format.
 * @param own The number of the format that this version creates.
 * @throws StorageMisconfigured if this version can't work with it.
 */
export function checkFormat(name: string, found: number, own: number): void {
  if (found === own) return;
  throw new StorageMisconfigured(
    `${name} has format ${found}, and this version of Animal Store works with format ${own}: ` +
      `start ${found > own ? 'a newer' : 'an older'} version`,
  );
}
