import { DELIMITERS, delimiterOf } from './csv-fields.ts';
import type { RecordScanner } from './record-scanner.ts';
import { MAX_RECORD_BYTES } from './records.ts';

/** Where a scan is: at the beginning of a field, in one without quotes, in quotes, or behind a quote in quotes. */
type State = 'start' | 'plain' | 'quoted' | 'behind quote';

/** Finds the records of a CSV file with a header: a line feed in a quoted field does not end the record. */
export function createCsvScanner(): RecordScanner {
  let state: State = 'start';
  let delimiters: readonly string[] = DELIMITERS;
  /** What was read of the header; null behind it. */
  let header: string | null = '';

  function endOfRecord(text: string, from: number, to: number): number {
    const end = scan(text, from, to);
    if (header !== null) {
      if (header.length <= MAX_RECORD_BYTES) header += text.slice(from, end === -1 ? to : end);
      if (end !== -1) {
        delimiters = [delimiterOf(header) ?? ','];
        header = null;
      }
    }
    return end;
  }

  function scan(text: string, from: number, to: number): number {
    if (state === 'start') {
      const lineEnd = text.indexOf('\n', from);
      if (lineEnd !== -1 && lineEnd < to && !text.slice(from, lineEnd).includes('"')) return lineEnd;
    }
    for (let at = from; at < to; at += 1) {
      const character = text[at] as string;
      if (state === 'quoted') {
        at = text.indexOf('"', at);
        if (at === -1 || at >= to) return -1;
        state = 'behind quote';
      } else if (character === '"' && state !== 'plain') {
        // A quote behind a quote is the second of a pair.
        state = 'quoted';
      } else if (character === '\n') {
        state = 'start';
        return at;
      } else {
        state = delimiters.includes(character) ? 'start' : 'plain';
      }
    }
    return -1;
  }

  return { endOfRecord, isInQuotes: () => state === 'quoted' };
}
