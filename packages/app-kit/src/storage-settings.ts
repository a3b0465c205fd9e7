import { type StorageName, storageEntries } from './storages.ts';

/** Which storage to open, and where. */
export interface StorageSettings {
  readonly name: StorageName;
  /** The variable with its location; null for a storage without one. */
  readonly variable: string | null;
  /** The value of the variable; empty without one. It may hold credentials. */
  readonly setting: string;
}

/** Whether pets may be stored in the memory of the process. */
export type MemoryPolicy = 'allowed' | 'if named' | 'never';

/** The variables with the locations of storages, by the name of the storage. */
export const storageVariables: readonly (readonly [StorageName, string])[] = storageEntries.flatMap(([name, entry]) =>
  entry.setting === undefined ? [] : [[name, entry.setting.variable] as const],
);

/** Every variable that chooses a storage. */
export const STORAGE_VARIABLES: readonly string[] = ['STORAGE', ...storageVariables.map(([, variable]) => variable)];

const NAMES = storageEntries.map(([name]) => name);
const IN_PROCESS = storageEntries.filter(([, { setting }]) => setting === undefined).map(([name]) => name);
const CHOICES = storageVariables.map(([, variable]) => variable).join(' or ');

/**
 * Chooses the storage: the one that STORAGE names, else the one whose variable is set, else memory.
 *
 * @param memory Whether pets may be stored in memory: always, only if STORAGE says so, or never.
 * @param errors Takes a sentence for each error.
 */
export function readStorageSettings(
  environment: NodeJS.ProcessEnv,
  memory: MemoryPolicy,
  errors: string[],
): StorageSettings {
  const name = chosenName(environment, memory, errors);
  const entry = storageEntries.find(([each]) => each === name)?.[1];
  if (name === null || entry?.setting === undefined) {
    return { name: name ?? 'memory', variable: null, setting: '' };
  }
  const { variable, example } = entry.setting;
  const setting = environment[variable] ?? '';
  if (setting === '') errors.push(`${variable} must be set if STORAGE is ${name}, as in ${example}`);
  return { name, variable, setting };
}

function chosenName(environment: NodeJS.ProcessEnv, memory: MemoryPolicy, errors: string[]): StorageName | null {
  const given = environment['STORAGE'] ?? '';
  if (given !== '') {
    const name = NAMES.find((each) => each === given) ?? null;
    if (name === null) errors.push(`STORAGE must be one of ${NAMES.join(', ')}, was ${JSON.stringify(given)}`);
    else if (memory === 'never' && IN_PROCESS.includes(name)) errors.push(notDurable(`STORAGE is ${name}`));
    return name;
  }
  const set = storageVariables.filter(([, variable]) => environment[variable]);
  const [only, ...others] = set;
  if (only === undefined) {
    if (memory === 'never') errors.push(notDurable('no storage is named'));
    if (memory === 'if named') {
      errors.push(
        `STORAGE must be set if NODE_ENV is production, unless ${CHOICES} is: memory, the default, loses the pets when the service stops`,
      );
    }
    return 'memory';
  }
  if (others.length > 0) {
    errors.push(`STORAGE must say which to use: ${set.map(([, variable]) => variable).join(' and ')} are set`);
  }
  return only[0];
}

/** The warning that storage in memory deserves if the application does not say it otherwise. */
export function memoryWarnings({ variable }: StorageSettings): string[] {
  return variable === null
    ? [`the animals are kept in memory, and gone when this process ends: set ${CHOICES} to keep them`]
    : [];
}

function notDurable(reason: string): string {
  return `set ${CHOICES}: ${reason}, and nothing in memory outlives a command`;
}
