import { Option } from 'commander';
import { MESSAGES } from '../messages.ts';
import { csv } from './csv.ts';
import { delimiterOf } from './csv-fields.ts';
import { ndjson } from './ndjson.ts';
import type { PetFormat } from './pet-format.ts';

const FORMATS = { ndjson, csv } as const satisfies Record<string, PetFormat>;

/** `--format`. Its value is the name of a format. */
export function formatOption(fallback: string): Option {
  return new Option('--format <format>', `default: ${fallback}`).choices(Object.keys(FORMATS));
}

/** The format of a name; without one that of the file's extension. */
export function petFormat(name: string | undefined, file = ''): PetFormat {
  return FORMATS[(name ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')) as keyof typeof FORMATS];
}

/**
 * Recognises a file of another kind by its beginning.
 *
 * @param head The first line at least, its bytes as Latin-1.
 * @returns What to do with it; null if it may be of the format.
 */
export function wrongKind(head: string, format: PetFormat['name']): string | null {
  const text = head.replace(/^\u00ef\u00bb\u00bf/, '').trimStart();
  const isCsv = delimiterOf(text.split('\n', 1)[0] as string) !== null;
  if (text.startsWith('\u001f\u008b')) return MESSAGES.isCompressed;
  if (text.startsWith('PK\u0003\u0004')) return MESSAGES.isSpreadsheet;
  if (isCsv) return format === 'csv' ? null : MESSAGES.isCsv;
  if (text.startsWith('[')) return MESSAGES.isJsonArray;
  if (/^\{\s*\n/.test(text)) return MESSAGES.isIndentedJson;
  return format === 'csv' && text.startsWith('{') ? MESSAGES.isNdjson : null;
}
