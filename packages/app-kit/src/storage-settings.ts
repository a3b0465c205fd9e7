import type { StorageAdapter } from '@animal-store/domain/ports';
import { STORAGES, type Storages } from './storages.ts';

/** The storage to open, and its place. */
export interface StorageSettings {
  /** The value of STORAGE that names it. */
  readonly name: string;
  readonly adapter: StorageAdapter;
  /** The value of the adapter's variable; empty without one. It may hold credentials. */
  readonly setting: string;
  /** How messages name the setting: `MONGODB_URL`. */
  readonly subject: string;
  /** Variables of other storages that are set: a sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Chooses the storage: the one that STORAGE names, otherwise the one whose variable is set, otherwise memory.
 *
 * @param errors Takes a sentence for each error.
 */
export function readStorageSettings(
  environment: NodeJS.ProcessEnv,
  storages: Storages,
  errors: string[],
): StorageSettings {
  const set = Object.entries(storages).flatMap(([name, { variable }]) =>
    variable !== undefined && environment[variable.name] ? [{ name, variable: variable.name }] : [],
  );
  const given = environment['STORAGE'] ?? '';
  const name = given || (set[0]?.name ?? 'memory');
  const adapter = storages[name] ?? STORAGES.memory;
  const { variable } = adapter;
  const setting = variable === undefined ? '' : (environment[variable.name] ?? '');
  if (!Object.hasOwn(storages, name)) {
    errors.push(
      `STORAGE must be one of ${Object.keys(storages).join(', ')}, or the module of an adapter: ${JSON.stringify(name)} was found neither as a path from ${process.cwd()} nor among the packages of Animal Store`,
    );
  } else if (given === '' && set.length > 1) {
    errors.push(`STORAGE must say which to use: ${set.map(({ variable }) => variable).join(' and ')} are set`);
  } else if (variable !== undefined && setting === '') {
    errors.push(`${variable.name} must be set if STORAGE is ${name}, as in ${variable.example}`);
  }
  const warnings = set
    .filter((other) => other.variable !== variable?.name)
    .map((other) => `${other.variable} is set, but has no effect: the storage is ${name}`);
  return { name, adapter, setting, subject: variable?.name ?? `STORAGE=${name}`, warnings };
}
