import { Option } from 'commander';
import { MESSAGES } from '../messages.ts';
import { csv, headerOf } from './csv.ts';
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

/** The advice for a file of another kind, by its first line that is not blank; null for a file of pets. */
export function wrongKind(line: string, format: PetFormat['name']): string | null {
  if (line.startsWith('\u001f\u008b')) return MESSAGES.isCompressed;
  if (line.startsWith('PK\u0003\u0004')) return MESSAGES.isSpreadsheet;
  if (headerOf(line.trim()) !== null) return format === 'csv' ? null : MESSAGES.isCsv;
  if (/^\s*\[/.test(line)) return MESSAGES.isJsonArray;
  if (/^\s*\{\s*$/.test(line)) return MESSAGES.isIndentedJson;
  return format === 'csv' && /^\s*\{/.test(line) ? MESSAGES.isNdjson : null;
}
