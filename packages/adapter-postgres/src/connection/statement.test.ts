import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Statement } from './statement.ts';

/** A connection of the driver that notes what it is told to send. */
function connect() {
  const calls: unknown[] = [];
  const connection = {
    stream: { cork: () => void calls.push('cork'), uncork: () => void calls.push('uncork') },
    parse: ({ name, text }: { name: string; text: string }) => void calls.push(['parse', name, text]),
    bind({ statement, values }: { statement: string; values: unknown[] }) {
      if (values.includes('unsendable')) throw new TypeError('unsendable');
      calls.push(['bind', statement, values]);
    },
    execute: () => void calls.push('execute'),
    sync: () => void calls.push('sync'),
  } as unknown as pg.Connection;
  return {
    calls,
    submit(text: string, ...values: unknown[]) {
      calls.length = 0;
      new Statement(text, values, 1_000).submit(connection);
      return [...calls];
    },
  };
}

describe('Statement', () => {
  test('prepares its text once on each connection, and sends one packet', () => {
    const { submit } = connect();
    const sent = (name: string, ...parse: unknown[]) => [
      'cork',
      ...parse,
      ['bind', name, []],
      'execute',
      'sync',
      'uncork',
    ];
    const prepared = (name: string, text: string) => sent(name, ['parse', name, text]);
    expect(submit('SELECT 1')).toEqual(prepared('animal_store_0', 'SELECT 1'));
    expect(submit('SELECT 2')).toEqual(prepared('animal_store_1', 'SELECT 2'));
    expect(submit('SELECT 1')).toEqual(sent('animal_store_0'));
    expect(submit('SELECT 2')).toEqual(sent('animal_store_1'));
    expect(connect().submit('SELECT 2')).toEqual(prepared('animal_store_0', 'SELECT 2'));
  });

  test('uncorks the connection if sending fails, and prepares its text again', () => {
    const { calls, submit } = connect();
    expect(() => submit('SELECT $1', 'unsendable')).toThrow('unsendable');
    expect(calls.at(-1)).toBe('uncork');
    expect(submit('SELECT $1', 'x')).toContainEqual(['parse', 'animal_store_0', 'SELECT $1']);
  });

  test.each([
    ['Rex', 'Rex'],
    ['', ''],
    [7, '7'],
    [2n ** 63n - 1n, '9223372036854775807'],
    [true, 'true'],
    [null, null],
    [undefined, null],
    [[], '{}'],
    [[1n, 2n], '{1,2}'],
    [['Rex', ''], '{"Rex",""}'],
    [['a,b', '{}', 'NULL', '"\\"'], String.raw`{"a,b","{}","NULL","\"\\\""}`],
    [[null, undefined, 'x'], '{NULL,NULL,"x"}'],
  ])('sends the value %o as %j', (value, text) => {
    expect(connect().submit('SELECT $1', value)).toContainEqual(['bind', 'animal_store_0', [text]]);
  });
});
