import { distance } from 'fastest-levenshtein';

/**
 * Finds set variables that nothing reads and whose names resemble one that is read: at most one letter in five differs.
 * Case and underscores don't count, and MONGO is MONGODB.
 *
 * @param known The variables that the application reads.
 * @returns The variable that was probably meant, by the name that is set.
 */
export function findMisspelledVariables(
  environment: NodeJS.ProcessEnv,
  known: readonly string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of Object.keys(environment)) {
    const meant = known.find((each) => resembles(name, each));
    if (meant !== undefined && environment[name] && !known.includes(name)) found.set(name, meant);
  }
  return found;
}

function resembles(name: string, known: string): boolean {
  const meant = normalized(known);
  return distance(normalized(name), meant) <= Math.floor(meant.length / 5);
}

function normalized(name: string): string {
  return name.toUpperCase().replaceAll('_', '').replace('MONGODB', 'MONGO');
}
