import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';
import { MAX_RECORD_BYTES, type PetFormat } from './pet-format.ts';
import { type PetOfFile, readPets } from './read-pets.ts';

/** The pets of a file in chunks, and why reading ended before the file did, or null. */
async function read(format: PetFormat, ...chunks: (string | Buffer)[]) {
  async function* buffers() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const pets: PetOfFile[] = [];
  try {
    for await (const some of readPets(buffers(), format)) for (const each of some) pets.push(each);
  } catch (error) {
    return { pets, error: (error as Error).message };
  }
  return { pets, error: null };
}

/** Cuts bytes into chunks. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...cuts.map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

const HEADER = 'name,categoryId\n';
const good = (line: number, pet: unknown, lastLine = line) => ({ line, lastLine, pet, error: null });
const bad = (line: number, error: string, lastLine = line) => ({ line, lastLine, error });
const named = (name: string) => ({ name, categoryId: 1n, status: undefined });

describe('readPets', () => {
  test('returns pets with the numbers of their lines, also of a last one without a line feed', async () => {
    const { pets } = await read(ndjson, '{"a":1}\n\n{"b":1}\r\n{"c":1}');
    expect(pets).toEqual([good(1, { a: 1n }), good(3, { b: 1n }), good(4, { c: 1n })]);
  });

  test('continues a record after a line feed in quotes', async () => {
    const { pets } = await read(csv, `${HEADER}"b\n""\n",1\nd,1\n"\n",1`);
    expect(pets).toEqual([good(2, named('b\n"\n'), 4), good(5, named('d')), good(6, named('\n'), 7)]);
  });

  test('begins a quoted field only after the delimiter of the header', async () => {
    const { pets } = await read(csv, 'name;categoryId\na,"b;1\nc;1');
    expect(pets).toEqual([
      bad(2, 'a field with a quote must be in quotes, each quote in it doubled'),
      good(3, named('c')),
    ]);
  });

  test('creates no pet of lines in quotes, also after another misplaced quote', async () => {
    const { pets } = await read(csv, `${HEADER}a "b,"c\nBella,1\n",1\nd,1`);
    expect(pets).toEqual([expect.objectContaining({ line: 2, lastLine: 4 }), good(5, named('d'))]);
  });

  test.each([
    [Buffer.from('name,categoryId,Gr\xf6\xdfe\nname,categoryId,x\nRex,1,2\n', 'latin1'), 'not UTF-8'],
    [`"name,categoryId\nRex,1\n`, 'a quote is not closed'],
  ])('rejects a CSV file whose first line cannot be read', async (file, reason) => {
    expect(await read(csv, file)).toEqual({ pets: [], error: `the first line can't be read: ${reason}` });
  });

  test.each([
    [ndjson, 'name,categoryId\nRex,1\n', 'it is CSV: add --format csv'],
    [ndjson, '\ufeffid;name;categoryId\r\n1;Rex;1\r\n', 'it is CSV: add --format csv'],
    [ndjson, '\n[{"name":"Rex","categoryId":1},\n{}]', "jq -c '.[]' FILE | animal-store pets import"],
    [ndjson, `[${'{"name":"Rex","categoryId":1},'.repeat(10_000)}{}]`, "jq -c '.[]'"],
    [csv, '[\n{"name":"Rex","categoryId":1}]', "jq -c '.[]' FILE | animal-store pets import"],
    [ndjson, '{\n  "name": "Rex",\n  "categoryId": 1\n}', 'jq -c . FILE | animal-store pets import'],
    [csv, '{"name":"Rex","categoryId":1}', 'it is JSON: add --format ndjson'],
    [ndjson, gzipSync('{"name":"Rex","categoryId":1}'), 'gunzip -c FILE | animal-store pets import'],
    [csv, Buffer.from('PK\u0003\u0004'), 'save the sheet as CSV in UTF-8'],
  ])('says what to do with a file of another kind', async (format, file, hint) => {
    expect(await read(format, file)).toEqual({ pets: [], error: expect.stringContaining(hint) });
  });

  test.each(['', '\ufeff'])('rejects an empty file that needs a header: %j', async (text) => {
    expect((await read(csv, text)).error).toBe('the first line must name the columns name and categoryId, was ""');
    expect(await read(ndjson, text)).toEqual({ pets: [], error: null });
  });

  test('ignores a byte order mark, also if it arrives byte by byte', async () => {
    const bytes = Buffer.from('\ufeff{"a":1}\n\ufeff{"b":1}');
    const expected = [good(1, { a: 1n }), expect.objectContaining({ line: 2, error: expect.any(String) })];
    expect((await read(ndjson, bytes)).pets).toEqual(expected);
    expect((await read(ndjson, ...[...bytes].map((byte) => Buffer.of(byte)))).pets).toEqual(expected);
  });

  test('rejects a record that is not UTF-8, and reads its neighbours', async () => {
    const mixed = Buffer.concat([Buffer.from(`${HEADER}né,1\n`), Buffer.from('Jos\xe9,1\n\xe9', 'latin1')]);
    const { pets } = await read(csv, mixed, '\nfin,1');
    expect(pets).toEqual([good(2, named('né')), bad(3, 'not UTF-8'), bad(4, 'not UTF-8'), good(5, named('fin'))]);
  });

  test('rejects a JSON line that is too long, and reads its neighbours', async () => {
    const longest = JSON.stringify('x'.repeat(MAX_RECORD_BYTES - 2));
    const expected = [good(1, longest.slice(1, -1)), bad(2, 'longer than 64 KiB'), good(3, 'b')];
    expect((await read(ndjson, `${longest}\n"${longest}\n"b"\n`)).pets).toEqual(expected);
    // More than a string can hold.
    const endless = new Array<Buffer>(34).fill(Buffer.alloc(16 * 1024 * 1024, 'x'));
    expect((await read(ndjson, `${longest}\n`, ...endless, '\n"b"\n')).pets).toEqual(expected);
  });

  test.each([
    ['"a\nb\nc', 4],
    ['"a\nb\nc\n', 4],
    ['"a', 2],
  ])('rejects a quote that is open at the end of the file as one record: %j', async (text, lastLine) => {
    expect((await read(csv, HEADER, text)).pets).toEqual([bad(2, 'a quote is not closed', lastLine)]);
  });

  test.each([
    ['a quote that is open for too long', `"a\n${'b,1\n'.repeat(20_000)}`, '"\n'],
    ['a line that is too long', 'x'.repeat(MAX_RECORD_BYTES), ',"', '\nb,1\n"\n'],
  ])('ends before %s: the next lines may be in quotes', async (_, ...chunks) => {
    const { pets, error } = await read(csv, `${HEADER}a,1\n`, ...chunks, 'c,1');
    expect(pets).toEqual([good(2, named('a'))]);
    expect(error).toBe(
      'line 3: the record does not end within 64 KiB, perhaps because a quote is not closed; the rest is not read',
    );
  });

  const units = fc.constantFrom('a', '"', ',', '1', ',1\n', '\r', '\n', 'é', '🐕', '\ufeff', '\u0000');

  test.each([
    [ndjson, '1\n'],
    [csv, HEADER],
  ])('returns the same records however the file is cut into chunks', async (format, start) => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: units }), fc.array(fc.nat(60)), async (text, cuts) => {
        const bytes = Buffer.from(start + text);
        expect(await read(format, ...cut(bytes, cuts))).toEqual(await read(format, bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    [ndjson, '1\n'],
    [csv, HEADER],
  ])('returns the same long records however the file is cut into chunks', async (format, start) => {
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
        const bytes = Buffer.from(start + given.join(''));
        expect(await read(format, ...cut(bytes, cuts))).toEqual(await read(format, bytes));
      }),
      { numRuns: 150 },
    );
  });
});
