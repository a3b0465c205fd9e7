import { describe, expect, test } from 'vitest';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';

/** Reads the records after a header. */
function read(header: string, ...records: string[]): unknown[] {
  const reader = csv.createReader();
  expect(reader.read(header)).toBeUndefined();
  return records.map((record) => reader.read(record));
}

const rex = { name: 'Rex', categoryId: 1n, status: undefined };

describe('CSV', () => {
  test.each([
    ['007', '1,007,9223372036854775807,sold\r\n'],
    ['a "b"\r\n,', '1,"a ""b""\r\n,",9223372036854775807,sold\r\n'],
    [' x', '1," x",9223372036854775807,sold\r\n'],
  ])('writes RFC 4180 with a header, and quotes only fields that need it: %j', (name, record) => {
    expect(csv.header).toBe('id,name,categoryId,status\r\n');
    expect(csv.write({ id: 1n, name, categoryId: 9223372036854775807n, status: 'sold' })).toBe(record);
  });

  test.each([
    ['columns in any order, and others', 'status,colour,categoryId,name', 'sold,red,1,Rex', { ...rex, status: 'sold' }],
    ['a line feed behind a carriage return', '"name","categoryId"\r', '007,1\r', { ...rex, name: '007' }],
    ['commas', 'name,categoryId', '"a,b;c\td",1', { ...rex, name: 'a,b;c\td' }],
    ['semicolons', 'name;categoryId', '"a,b;c\td";1', { ...rex, name: 'a,b;c\td' }],
    ['tabs', 'name\tcategoryId', '"a,b;c\td"\t1', { ...rex, name: 'a,b;c\td' }],
    ['a comma in a column of semicolons', '"first, last";name;categoryId', 'x;Rex;1', rex],
    ['a quote in a column', '"the ""name""",name,categoryId', 'x,Rex,1', rex],
    ['a semicolon in a column of commas', '"colours; sizes",name,categoryId', 'x,Rex,1', rex],
    ['empty fields as an empty record', 'name,categoryId', '"",', undefined],
    ['an empty field as a missing member', 'name,categoryId', 'Rex,', { ...rex, categoryId: undefined }],
    [
      'an integer that a spreadsheet rounded as its text',
      'name,categoryId',
      'Rex,9.2E+18',
      { ...rex, categoryId: '9.2E+18' },
    ],
  ])('reads %s', (_, header, record, pet) => {
    expect(read(header, record)).toEqual([pet]);
  });

  test.each([
    ['Rex', 'it has 1 fields, the header has 2'],
    ['Rex,1,2', 'it has 3 fields, the header has 2'],
    ['Rex "the dog",1', /^a field with a quote must be in quotes/],
    ['"Rex" the dog,1', /^a field goes on after its closing quote/],
  ])('rejects the record %s', (record, message) => {
    expect(() => read('name,categoryId', record)).toThrow(message);
  });

  test.each(['name', 'categoryId', 'status'])('rejects a header that names the column %s twice', (column) => {
    const header = `name,categoryId,status,${column}`;
    expect(() => read(header)).toThrow(`the first line must name the column ${column} once, was "${header}"`);
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
  });

  test('skips empty lines, but not null', () => {
    expect([reader(''), reader(' \t\r'), reader('null')]).toEqual([undefined, undefined, null]);
  });

  test('rejects text that is not JSON', () => {
    expect(() => reader('{"name":')).toThrow('the record cannot be read as JSON: Unexpected end of JSON input');
  });
});
