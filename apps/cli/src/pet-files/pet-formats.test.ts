import { describe, expect, test } from 'vitest';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';

/** Reads the records after a header. */
function read(header: string, ...records: string[]): unknown[] {
  const reader = csv.createReader();
  expect(reader.read(header)).toBeUndefined();
  return records.map((record) => reader.read(record));
}

describe('CSV', () => {
  test('writes RFC 4180 with a header, and quotes only fields that need it', () => {
    expect(csv.header).toBe('id,name,categoryId,status\r\n');
    const pet = { id: 1n, categoryId: 9223372036854775807n };
    expect(csv.write({ ...pet, name: '007', status: 'sold' })).toBe('1,007,9223372036854775807,sold\r\n');
    expect(csv.write({ ...pet, name: 'a "b"\r\n,' })).toBe('1,"a ""b""\r\n,",9223372036854775807,\r\n');
    expect(csv.write({ ...pet, name: ' x' })).toBe('1," x",9223372036854775807,\r\n');
  });

  test('reads columns in any order, and ignores others', () => {
    expect(read('status,colour,categoryId,name', 'sold,red,-9223372036854775808,Rex')).toEqual([
      { name: 'Rex', categoryId: -9223372036854775808n, status: 'sold' },
    ]);
    expect(read('"name","categoryId"\r', '007,007\r')).toEqual([{ name: '007', categoryId: 7n, status: undefined }]);
  });

  test.each([',', ';', '\t'])('reads the delimiter %j of spreadsheets', (delimiter) => {
    const line = (...fields: string[]) => fields.join(delimiter);
    expect(read(line('name', 'categoryId'), line('"a,b;c\td"', '1'))).toEqual([
      { name: 'a,b;c\td', categoryId: 1n, status: undefined },
    ]);
  });

  test.each([
    ['"first, last";name;categoryId', 'x;Rex;1'],
    ['"the ""name""",name,categoryId', 'x,Rex,1'],
    ['"colours; sizes",name,categoryId', 'x,Rex,1'],
  ])('reads a header of quoted columns: %s', (header, record) => {
    expect(read(header, record)).toEqual([{ name: 'Rex', categoryId: 1n, status: undefined }]);
  });

  test.each(['name', 'categoryId', 'status'])('rejects a header that names the column %s twice', (column) => {
    const header = `name,categoryId,status,${column}`;
    expect(() => read(header)).toThrow(`the first line must name the column ${column} once, was "${header}"`);
  });

  test('skips rows whose fields are all empty', () => {
    expect(read('name,categoryId', ',', '', '"",')).toEqual([undefined, undefined, undefined]);
  });

  test('passes an integer that a spreadsheet rounded to the catalogue, which rejects it', () => {
    expect(read('name,categoryId', 'Rex,9.22E+18', 'Rex,1.0', 'Rex,')).toMatchObject([
      { categoryId: '9.22E+18' },
      { categoryId: '1.0' },
      { categoryId: undefined },
    ]);
  });

  test.each([
    ['Rex', 'it has 1 fields, the header has 2'],
    ['Rex,1,2', 'it has 3 fields, the header has 2'],
    ['Rex "the dog",1', /^a field with a quote must be in quotes/],
    ['"Rex" the dog,1', /^a field goes on after its closing quote/],
  ])('rejects the record %s', (record, message) => {
    expect(() => read('name,categoryId', record)).toThrow(message);
  });

  test('rejects a file without the columns of a pet', () => {
    expect(() => read('Name;Category')).toThrow('must name the columns name and categoryId, was "Name;Category"');
  });
});

describe('NDJSON', () => {
  const { read: reader } = ndjson.createReader();

  test('reads and writes every digit', () => {
    const text = '{"id":1,"name":"Rex","categoryId":9223372036854775807}';
    expect(reader(text)).toMatchObject({ categoryId: 9223372036854775807n });
    expect(ndjson.write({ id: 1n, name: 'Rex', categoryId: 9223372036854775807n })).toBe(`${text}\n`);
    expect(reader('{"categoryId":1e3}')).toEqual({ categoryId: 1000n });
    expect(reader('{"categoryId":1.50}')).toMatchObject({ categoryId: { rawJSON: '1.50' } });
  });

  test('skips empty lines, but not null', () => {
    expect([reader(''), reader(' \t\r'), reader('null')]).toEqual([undefined, undefined, null]);
  });

  test('rejects what is not JSON', () => {
    expect(() => reader('{"name":')).toThrow(
      'the record is not valid JSON at column 9: expected a value, but the record ends',
    );
  });
});
