// What an author reads of a sequence that has failed.

import { DomainError, type NewPet } from '@animal-store/domain';

/** So many lines in a row are shown in full. */
const FULL = 12;

/** A result, or what may be stored, in few words. */
export function textOf(value: unknown): string {
  if (value instanceof Error) return DomainError.is(value) ? value.code : String(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return value === undefined ? 'done' : String(value);
  const { pet, created, request, left, name, id, revokedAt, lastUsedAt, holder } = value as Record<string, unknown>;
  if (holder !== undefined) return `a key of ${holder}, revoked ${revokedAt}, used ${lastUsedAt}`;
  if (name !== undefined) return `pet ${id} "${name}"`;
  if (request !== undefined) return `pet ${id ?? 'with an unknown id'} "${(request as NewPet).name}"`;
  if (created !== undefined) return `${created ? 'created' : 'found'} ${textOf(pet)}`;
  return pet ? textOf(pet) : left ? `not stored, perhaps a record of "${(left as NewPet).name}"` : 'not stored';
}

/** An error about a pet or an API key, by its name in the log. */
export const errorAbout = (subject: string, message: string): Error => Object.assign(new Error(message), { subject });

export function wrong(what: string): never {
  throw new Error(what);
}

/** A method with its storage, and how its call has ended. */
const kindOf = (line: string) =>
  line.replace(/^(.*?: [a-z]+\.\w+).* → (\w+|\[).*$/, (_, call, end) => `${call} → ${end === '[' ? 'a page' : end}`);

/** Adds the lines of a log to an error. Of many in a row, and of long pages, what is not about its subject is counted. */
export function withLog(error: unknown, log: readonly string[]): Error {
  const { subject } = error as { readonly subject?: string };
  const isAbout = (text: string) => subject !== undefined && new RegExp(`\\b${subject}\\b`).test(text);
  const rowOf = (line: string) => /^ {2}at once(, )?/.exec(line)?.[0] ?? kindOf(line);
  const withShortPage = (line: string) =>
    line.replace(/\[(.*)\]$/, (whole, page: string) => {
      const items = page.split(/, (?=pet |a key )/);
      const own = items.filter(isAbout);
      return items.length <= FULL ? whole : `[${[...own, `${items.length - own.length} others`].join(', ')}]`;
    });
  const lines: string[] = [];
  for (let begin = 0, end = 0; begin < log.length; begin = end) {
    const row = rowOf(log[begin] as string);
    while (end < log.length && rowOf(log[end] as string) === row) end += 1;
    const all = log.slice(begin, end);
    const isShort = new Set(all).size <= FULL;
    const counts = new Map<string, number>();
    for (const line of all.map((line) => (isShort || isAbout(line) ? withShortPage(line) : kindOf(line))))
      counts.set(line, (counts.get(line) ?? 0) + 1);
    lines.push(...[...counts].map(([line, count]) => (count > 1 ? `${line}, ${count} times` : line)));
  }
  (error as Error).message += `\nafter:\n${lines.join('\n')}`;
  return error as Error;
}
