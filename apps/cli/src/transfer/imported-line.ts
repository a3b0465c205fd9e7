import type { IdempotencyKey } from '@animal-store/domain';
import { InvalidArgumentError } from 'commander';
import { MESSAGES } from '../messages.ts';
import type { InputFile } from './input-file.ts';

/** The holder of the idempotency keys of imports. No holder of an API key has a name with an outer space. */
const HOLDER = ' import ';

const IMPORT_ID = /^[\x21-\x7e]{1,100}$/;

/** Checks the value of `--import-id`. Throws InvalidArgumentError. */
export function asImportId(text: string): string {
  if (!IMPORT_ID.test(text)) throw new InvalidArgumentError(MESSAGES.importId);
  return text;
}

/**
 * The idempotency keys of lines, by which a repetition recognises them: the import, or the content of the whole file, and
 * the number of the line. Storages keep these keys: if their form changed, a repeated import would create its pets again.
 */
export async function lineKeys(
  importId: string | undefined,
  file: InputFile,
): Promise<(line: number) => IdempotencyKey> {
  const id = importId ?? (await file.digest());
  return (line) => ({ holder: HOLDER, key: `${id}:${String(line).padStart(10, '0')}` });
}
