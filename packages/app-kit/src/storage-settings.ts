import type { StorageAdapter } from '@animal-store/domain/ports';
import { STORAGES, type Storages, storageChoices, storageVariables } from './storages.ts';

/** The storage to open, and its place. */
export interface StorageSettings {
  /** The value of STORAGE that names it. */
  readonly name: string;
  readonly adapter: StorageAdapter;
  /** The value of the adapter's variable; empty without one. It may hold credentials. */
  readonly setting: string;
  /** How messages name the setting. Absent: by the variable. */
  readonly subject?: string;
  /** Variables of other storages that are set: a sentence each. */
  readonly warnings: readonly string[];
}

/** Whether pets may be stored in the memory of the process. */
export type MemoryPolicy = 'allowed' | 'if named' | 'never';

/**
 * Chooses the storage: the one that STORAGE names, otherwise the one whose variable is set, otherwise memory.
 *
 * @param memory Whether pets may be stored in memory: always, only if STORAGE says so, or never.
 * @param errors Takes a sentence for each error.
 */
export function readStorageSettings(
  environment: NodeJS.ProcessEnv,
  storages: Storages,
  memory: MemoryPolicy,
  errors: string[],
): StorageSettings {
  const name = chosenName(environment, storages, memory, errors);
  const adapter = storages[name] ?? STORAGES.memory;
  const { variable } = adapter;
  const warnings = storageVariables(storages)
    .filter((other) => other !== variable && environment[other.name])
    .map((other) => `${other.name} is set, but has no effect: the storage is ${name}`);
  if (variable === undefined) return { name, adapter, setting: '', warnings };
  const setting = environment[variable.name] ?? '';
  if (setting === '') errors.push(`${variable.name} must be set if STORAGE is ${name}, as in ${variable.example}`);
  return { name, adapter, setting, warnings };
}

function chosenName(
  environment: NodeJS.ProcessEnv,
  storages: Storages,
  memory: MemoryPolicy,
  errors: string[],
): string {
  const choices = storageChoices(storages);
  const notDurable = (reason: string) => `set ${choices}: ${reason}, and nothing in memory outlives a command`;
  const given = environment['STORAGE'] ?? '';
  if (given !== '') {
    if (!Object.hasOwn(storages, given)) {
      const names = Object.keys(storages).join(', ');
      errors.push(
        `STORAGE must be one of ${names}, or the module of an adapter: ${JSON.stringify(given)} was not found from the folder ${process.cwd()}`,
      );
    } else if (memory === 'never' && storages[given]?.variable === undefined) {
      errors.push(notDurable(`STORAGE is ${given}`));
    }
    return given;
  }
  const set = Object.entries(storages).flatMap(([name, { variable }]) =>
    variable !== undefined && environment[variable.name] ? [{ name, variable: variable.name }] : [],
  );
  const [only, ...others] = set;
  if (others.length > 0) {
    errors.push(`STORAGE must say which to use: ${set.map(({ variable }) => variable).join(' and ')} are set`);
  }
  if (only !== undefined) return only.name;
  if (memory === 'never') errors.push(notDurable('no storage is named'));
  if (memory === 'if named') {
    errors.push(
      `STORAGE must be set if NODE_ENV is production, unless ${choices} is: memory, the default, loses the pets when the service stops`,
    );
  }
  return 'memory';
}
