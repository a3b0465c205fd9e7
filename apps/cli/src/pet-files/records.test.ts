import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';
import { type EndOfRecord, type FileRecord, MAX_RECORD_BYTES, readRecords } from './records.ts';

async function recordsOf(endOfRecord: EndOfRecord, ...chunks: (string | Buffer)[]): Promise<FileRecord[]> {
  async function* buffers() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const records: FileRecord[] = [];
  for await (const array of readRecords(buffers(), endOfRecord)) records.push(...array);
  // The end of a file is the end of a line.
  return records.filter(({ text, error }) => text !== '' || error !== null);
}

const { endOfRecord: byLine } = ndjson;
const { endOfRecord: byQuotes } = csv;
const good = (line: number, text: string) => ({ line, text, error: null });
const bad = (line: number, error: string) => ({ line, text: '', error });

describe('records', () => {
  test('are lines with their numbers, the last one without a line feed, too', async () => {
    expect(await recordsOf(byLine, 'a\n\nb\r\nc')).toEqual([good(1, 'a'), good(3, 'b\r'), good(4, 'c')]);
  });

  test('continue after a line feed in quotes, and are numbered by their first line', async () => {
    expect(await recordsOf(byQuotes, 'a,"b\n""\n",c\nd\n"\n",e')).toEqual([
      good(1, 'a,"b\n""\n",c'),
      good(4, 'd'),
      good(5, '"\n",e'),
    ]);
  });

  test('follow a byte order mark, also if it arrives byte by byte', async () => {
    expect(await recordsOf(byLine, '\ufeffa\n\ufeffb')).toEqual([good(1, 'a'), good(2, '\ufeffb')]);
    expect(await recordsOf(byLine, '\n', '\ufeffb')).toEqual([good(2, '\ufeffb')]);
    expect(await recordsOf(byLine, ...[...Buffer.from('\ufeffa\n')].map((byte) => Buffer.of(byte)))).toEqual([
      good(1, 'a'),
    ]);
  });

  test('that are not UTF-8 are errors, those beside them are not', async () => {
    const bytes = Buffer.from('né\nJos\xe9\né', 'latin1');
    const mixed = Buffer.concat([Buffer.from('né\n'), bytes.subarray(3), Buffer.from('\nfin')]);
    expect(await recordsOf(byLine, mixed)).toEqual([
      good(1, 'né'),
      bad(2, 'not UTF-8'),
      bad(3, 'not UTF-8'),
      good(4, 'fin'),
    ]);
  });

  test.each([byLine, byQuotes])('that are too long are errors, those beside them are not (%s)', async (endOfRecord) => {
    const longest = 'x'.repeat(MAX_RECORD_BYTES);
    const expected = [good(1, 'a'), good(2, longest), bad(3, 'longer than 64 KiB'), good(4, 'b')];
    expect(await recordsOf(endOfRecord, `a\n${longest}\n${longest}x\nb\n`)).toEqual(expected);
    const endless = Array.from({ length: 100 }, () => longest);
    expect(await recordsOf(endOfRecord, `a\n${longest}\n`, ...endless, '\nb\n')).toEqual(expected);
  });

  test('with a quote that is not closed are errors, the next line is not', async () => {
    expect(await recordsOf(byQuotes, '"a\nb\nc')).toEqual([
      bad(1, 'a quote is not closed'),
      good(2, 'b'),
      good(3, 'c'),
    ]);
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
    const records = await recordsOf(byQuotes, `"a\n${lines.join('\n')}`);
    expect(records[0]).toEqual(bad(1, 'a quote is not closed'));
    expect(records.slice(1).map(({ text }) => text)).toEqual(lines);
  });

  test.each([byLine, byQuotes])('do not depend on how the file is cut into chunks (%s)', async (endOfRecord) => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', 'é', '🐕', '\ufeff', '\u0000') });
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(40)), async (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        expect(await recordsOf(endOfRecord, ...chunks)).toEqual(await recordsOf(endOfRecord, whole));
      }),
      { numRuns: 1_000 },
    );
  });
});
