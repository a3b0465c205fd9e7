import { MESSAGES } from '../messages.ts';
import { delimiterOf } from './csv-fields.ts';
import type { PetFormat } from './pet-format.ts';

/**
 * What to do with a file that its beginning shows to be of another kind.
 *
 * @param head The first line at least, its bytes as Latin-1.
 * @returns null if it may be of the format.
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
