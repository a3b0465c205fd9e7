import { distance } from 'fastest-levenshtein';
import { storageVariables } from './storage-settings.ts';

/** Last words of names of variables that hold the location of a database. */
const PLACES: ReadonlySet<string> = new Set(['URL', 'URI', 'FILE', 'PATH', 'DB', 'DATABASE', 'DSN']);

/** Shorter names resemble too many others. */
const SHORTEST = 6;

/**
 * Finds set variables that nothing reads and that resemble a known one.
 *
 * @param known The variables that the application reads.
 * @returns A sentence for each, which names the variable that was probably meant.
 */
export function findMisspelledVariables(environment: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  const sentences: string[] = [];
  for (const name of Object.keys(environment).sort()) {
    if (known.includes(name)) continue;
    const meant = known.find((each) => resembles(name, each));
    if (meant !== undefined && environment[name])
      sentences.push(`${name} is not a setting: ${meant} is meant, rename or remove it`);
  }
  return sentences;
}

function resembles(name: string, known: string): boolean {
  const [given, meant] = [normalized(name), normalized(known)];
  if (given === meant) return true;
  if (meant.length < SHORTEST) return false;
  const [givenWords, meantWords] = [words(name), words(known)];
  if (distance(given, meant) <= (meant.length < 9 ? 1 : 2) && haveSimilarWords(givenWords, meantWords)) return true;
  const isStorage = storageVariables.some(([, variable]) => variable === known);
  return (isStorage && isOtherPlace(givenWords, meantWords)) || lacksLastWord(givenWords, meantWords);
}

/** At most one letter of a word differs, or two are swapped: PROXY_PORT is not PROBE_PORT. */
function haveSimilarWords(given: readonly string[], meant: readonly string[]): boolean {
  if (given.length !== meant.length) return true;
  return meant.every((word, index) => {
    const other = given[index] ?? '';
    return distance(other, word) <= 1 || sorted(other) === sorted(word);
  });
}

/** MONGO_URI for MONGODB_URL, SQLITE_PATH for SQLITE_FILE. */
function isOtherPlace(given: readonly string[], meant: readonly string[]): boolean {
  if (given.length !== 2 || meant.length !== 2 || !PLACES.has(given[1] ?? '') || !PLACES.has(meant[1] ?? ''))
    return false;
  return meant[0]?.slice(0, 5) === given[0]?.slice(0, 5);
}

/** STOP_GRACE or STOP_GRACE_MS for STOP_GRACE_SECONDS. */
function lacksLastWord(given: readonly string[], meant: readonly string[]): boolean {
  const stem = meant.slice(0, -1).join('_');
  return meant.length >= 3 && (given.join('_') === stem || given.slice(0, -1).join('_') === stem);
}

function words(name: string): string[] {
  return name.toUpperCase().split('_');
}

function sorted(word: string): string {
  return [...word].sort().join('');
}

function normalized(name: string): string {
  return name.toUpperCase().replaceAll('_', '');
}
