import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshDatabase } from '@animal-store/test-mongodb';
import { describe, expect, inject, test } from 'vitest';
import { expectContractToPass } from './contract.ts';
import { folderOf, PACKAGES, run } from './packages.ts';
import { programOf, promisedOutput, readmeOf } from './readme-program.ts';

const consumer = inject('consumer');

/** Runs a program in the project of a consumer. @returns What it prints, by line. */
function runProgram(name: string, program: string, environment: Record<string, string> = {}): string[] {
  writeFileSync(join(consumer, `readme-of-${name}.js`), program);
  const output = run(process.execPath, [`readme-of-${name}.js`], consumer, {
    PATH: process.env['PATH'],
    ...environment,
  });
  return output.trimEnd().split('\n');
}

describe('the README', () => {
  test.each(PACKAGES)('of %s introduces the package by its name', (name) => {
    expect(readmeOf(name)).toMatch(new RegExp(`^# @animal-store/${name}\n\n[A-Z]`));
  });

  test.each(PACKAGES.filter((name) => !['adapter-contract', 'adapter-mongodb'].includes(name)))(
    'of %s shows a program that prints what its comments say',
    (name) => {
      const program = programOf(name);
      expect(runProgram(name, program)).toEqual(promisedOutput(program));
    },
  );

  test.skipIf('missing' in inject('mongodb'))('of adapter-mongodb does so on a server', () => {
    const program = programOf('adapter-mongodb');
    expect(runProgram('adapter-mongodb', program, { MONGODB_URL: freshDatabase() })).toEqual(promisedOutput(program));
  });

  test('of adapter-contract shows a test file that passes', () => {
    expectContractToPass(consumer, 'readme-of-adapter-contract', programOf('adapter-contract'));
  });
});

describe('the README of domain', () => {
  test('is right that JSON.stringify throws for a pet', () => {
    const program = programOf('domain');
    const stringified = program.replace('console.log(stringify(rex))', 'console.log(JSON.stringify(rex))');
    expect(stringified).not.toBe(program);
    expect(() => runProgram('domain', stringified)).toThrow(/TypeError: Do not know how to serialize a BigInt/);
  });

  test('names each error code', () => {
    const source = readFileSync(join(folderOf('domain'), 'src/domain-error.ts'), 'utf8');
    const codes = source.match(/(?<=\| ')[a-z_]+(?=')/g);
    expect([...readmeOf('domain').matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, code]) => code)).toEqual(codes);
  });
});
