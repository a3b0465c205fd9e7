import { Option } from 'commander';
import { csv } from './csv.ts';
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
