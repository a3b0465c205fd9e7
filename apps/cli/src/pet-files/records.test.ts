import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';
import type { PetFormat } from './pet-format.ts';
import { type FileRecord, MAX_RECORD_BYTES, readRecords } from './records.ts';

async function recordsOf({ createScanner }: PetFormat, ...chunks: (string | Buffer)[]): Promise<FileRecord[]> {
  async function* buffers() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const records: FileRecord[] = [];
  for await (const array of readRecords(buffers(), createScanner())) records.push(...array);
  // The end of a file is the end of a line.
  return records.filter(({ text, error }) => text !== '' || error !== null);
}

/** The records before reading ended, and why it ended before the file did. */
async function readThrough({ createScanner }: PetFormat, chunks: readonly Buffer[]) {
  async function* buffers() {
    yield* chunks;
  }
  const records: FileRecord[] = [];
  try {
    for await (const array of readRecords(buffers(), createScanner())) records.push(...array);
  } catch (error) {
    return { records, error: (error as Error).message };
  }
  return { records, error: null };
}

/** Cuts bytes into chunks. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...cuts.map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

const good = (line: number, text: string, lastLine = line) => ({ line, lastLine, text, error: null });
const bad = (line: number, error: string, lastLine = line) => ({ line, lastLine, text: '', error });

describe('readRecords', () => {
  test('returns lines with their numbers, also a last one without a line feed', async () => {
    expect(await recordsOf(ndjson, 'a\n\nb\r\nc')).toEqual([good(1, 'a'), good(3, 'b\r'), good(4, 'c')]);
  });

  test('continues a record after a line feed in quotes, and numbers it by its first line', async () => {
    expect(await recordsOf(csv, 'a,"b\n""\n",c\nd\n"\n",e')).toEqual([
      good(1, 'a,"b\n""\n",c', 3),
      good(4, 'd'),
      good(5, '"\n",e', 6),
    ]);
  });

  test('ignores a byte order mark, also if it arrives byte by byte', async () => {
    expect(await recordsOf(ndjson, '\ufeffa\n\ufeffb')).toEqual([good(1, 'a'), good(2, '\ufeffb')]);
    expect(await recordsOf(ndjson, '\n', '\ufeffb')).toEqual([good(2, '\ufeffb')]);
    expect(await recordsOf(ndjson, ...[...Buffer.from('\ufeffa\n')].map((byte) => Buffer.of(byte)))).toEqual([
      good(1, 'a'),
    ]);
  });

  test('rejects a record that is not UTF-8, and reads its neighbours', async () => {
    const bytes = Buffer.from('né\nJos\xe9\né', 'latin1');
    const mixed = Buffer.concat([Buffer.from('né\n'), bytes.subarray(3), Buffer.from('\nfin')]);
    expect(await recordsOf(ndjson, mixed)).toEqual([
      good(1, 'né'),
      bad(2, 'not UTF-8'),
      bad(3, 'not UTF-8'),
      good(4, 'fin'),
    ]);
  });

  test.each([ndjson, csv])('rejects a record that is too long, and reads its neighbours', async (format) => {
    const longest = 'x'.repeat(MAX_RECORD_BYTES);
    const expected = [good(1, 'a'), good(2, longest), bad(3, 'longer than 64 KiB'), good(4, 'b')];
    expect(await recordsOf(format, `a\n${longest}\n${longest}x\nb\n`)).toEqual(expected);
    const endless = Array.from({ length: 100 }, () => longest);
    expect(await recordsOf(format, `a\n${longest}\n`, ...endless, '\nb\n')).toEqual(expected);
  });

  test('ends a record that is too long after a line feed in quotes', async () => {
    const long = 'x'.repeat(MAX_RECORD_BYTES + 1);
    expect(await recordsOf(csv, `name,categoryId\n${long},"\n",\nb\n`)).toEqual([
      good(1, 'name,categoryId'),
      bad(2, 'longer than 64 KiB', 3),
      good(4, 'b'),
    ]);
  });

  test('begins a quoted field only after the delimiter of the header', async () => {
    expect(await recordsOf(csv, 'name;categoryId\na,"b;1\nc;2')).toEqual([
      good(1, 'name;categoryId'),
      good(2, 'a,"b;1'),
      good(3, 'c;2'),
    ]);
  });

  test.each([
    ['"a\nb\nc', 3],
    ['"a\nb\nc\n', 3],
    ['"a', 1],
  ])('rejects a quote that is open at the end of the file as one record: %j', async (text, lastLine) => {
    expect(await recordsOf(csv, text)).toEqual([bad(1, 'a quote is not closed', lastLine)]);
  });

  test('ends before a quote that is open for more than 64 KiB, whose lines are no records', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
    const bytes = Buffer.from(`a\nb\n"a\n${lines.join('\n')}"\nc`);
    const { records, error } = await readThrough(csv, [bytes]);
    expect(records).toEqual([good(1, 'a'), good(2, 'b')]);
    expect(error).toBe('line 3: a quote is not closed within 64 KiB; the rest is not read');
  });

  test.each([ndjson, csv])('returns the same records however the file is cut into chunks', async (format) => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', 'é', '🐕', '\ufeff', '\u0000') });
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(40)), async (whole, cuts) => {
        const bytes = Buffer.from(whole);
        expect(await recordsOf(format, ...cut(bytes, cuts))).toEqual(await recordsOf(format, whole));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([ndjson, csv])('returns the same long records however the file is cut into chunks', async (format) => {
    const near = fc.integer({ min: MAX_RECORD_BYTES - 4, max: MAX_RECORD_BYTES + 4 });
    const filler = fc
      .tuple(fc.constantFrom('x', `${'x'.repeat(20_000)}\n`, `${'x'.repeat(20_000)},`), fc.oneof(near, fc.nat(200_000)))
      .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length));
    const mark = fc.constantFrom('"', '""', ',', '\n', '"\n', ',"', '","', '\n"');
    const pieces = fc.array(fc.oneof({ arbitrary: mark, weight: 4 }, { arbitrary: filler, weight: 1 }), {
      maxLength: 16,
    });
    await fc.assert(
      fc.asyncProperty(pieces, fc.array(fc.nat(400_000), { maxLength: 8 }), async (given, cuts) => {
        const bytes = Buffer.from(given.join(''));
        expect(await readThrough(format, cut(bytes, cuts))).toEqual(await readThrough(format, [bytes]));
      }),
      { numRuns: 150 },
    );
  });
});
