import { type CopiedStorage, openStorage } from './adapter.ts';
import { AMOUNT_BUGS } from './bugs/amounts.ts';
import { ANY_SEQUENCE_BUGS } from './bugs/any-sequence.ts';
import type { Bug } from './bugs/bug.ts';
import { DEFECT_BUGS } from './bugs/defects.ts';
import { INTERRUPTION_BUGS } from './bugs/interruptions.ts';
import { LOSS_BUGS } from './bugs/losses.ts';
import { STORAGE_BUGS } from './bugs/storages.ts';
import { VALUE_BUGS } from './bugs/values.ts';

const OF_ALL_KINDS = [
  ...[ANY_SEQUENCE_BUGS, VALUE_BUGS, AMOUNT_BUGS, DEFECT_BUGS],
  ...[INTERRUPTION_BUGS, LOSS_BUGS, STORAGE_BUGS],
];

/** All of them, by name, with the check that finds each. */
export const BUGS: Readonly<Record<string, Bug & { readonly foundBy: string }>> = Object.fromEntries(
  OF_ALL_KINDS.flatMap((kind) => Object.entries(kind)).flatMap(([foundBy, bugs]) =>
    Object.entries(bugs).map(([name, bug]) => [
      name,
      { foundBy, ...(typeof bug === 'function' ? { change: bug } : bug) },
    ]),
  ),
);

/** Opens a copy of the storage at the place of a URL, also in another process. */
export function openCopy({ url, bug, number }: { url: string; bug: string; number?: number }): CopiedStorage {
  const { change, ...options } = BUGS[bug] ?? {};
  const storage = openStorage(url, options);
  const copy: CopiedStorage = { ...storage, ...change?.(storage, url, number) };
  // Like an instance of a class, whose methods are inherited and need their object.
  return Object.create({
    ...copy,
    async ready(this: unknown) {
      if (this === undefined) throw new TypeError('ready needs its object');
      return copy.ready();
    },
  });
}
