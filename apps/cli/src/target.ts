import { readFile } from 'node:fs/promises';
import { ConfigurationError, findStorages, quotesViolation, type StorageSettings } from '@animal-store/app-kit';
import type { TargetOptions } from './context.ts';
import { MESSAGES } from './messages.ts';

/**
 * Returns the storage that the options name: that of --to-storage, otherwise the one whose example has the scheme of the
 * setting. A path matches an example without a scheme.
 *
 * @throws ConfigurationError
 */
export async function targetSettings({ to, toFile, toStorage }: TargetOptions): Promise<StorageSettings> {
  const setting = toFile === undefined ? to : (await readFile(toFile, 'utf8')).replace(/\r?\n$/, '');
  const subject = toFile === undefined ? '--to' : '--to-file';
  const violation = quotesViolation(toFile === undefined ? subject : `the content of ${subject}`, setting);
  if (violation !== null) throw new ConfigurationError(violation);
  const storages = await findStorages({ STORAGE: toStorage });
  const durable = Object.entries(storages).flatMap(([name, adapter]) => {
    const { variable } = adapter;
    return variable === undefined ? [] : [{ name, adapter, example: variable.example }];
  });
  const chosen = durable.find(({ name, example }) =>
    toStorage === undefined ? hasSchemeOf(example, setting ?? '') : name === toStorage,
  );
  if (toStorage !== undefined && chosen === undefined) throw new ConfigurationError(MESSAGES.noAdapter(toStorage));
  if (!setting || chosen === undefined) {
    throw new ConfigurationError(MESSAGES.noTarget(durable.map(({ example }) => example).join(', ')));
  }
  return { ...chosen, setting, subject, warnings: [] };
}

/** `mongodb+srv` and `postgresql` are schemes of `mongodb` and `postgres`, too. */
function hasSchemeOf(example: string, setting: string): boolean {
  const [, scheme] = /^(\w+):\/\//.exec(example) ?? [];
  return scheme === undefined ? !/^[\w+]+:\/\//.test(setting) : setting.startsWith(scheme);
}
