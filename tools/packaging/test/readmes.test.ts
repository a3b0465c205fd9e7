import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '@animal-store/clients/service';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { expectContractToPass } from './contract.ts';
import { folderOf, PACKAGES, ROOT, run } from './packages.ts';
import { programOf, promisedOutput, readmeOf } from './readme-program.ts';

const consumer = inject('consumer');

/**
 * Runs a program in the project of a consumer.
 *
 * @returns What it prints, by line.
 */
function runProgram(name: string, program: string, environment: NodeJS.ProcessEnv = {}): string[] {
  writeFileSync(join(consumer, `readme-of-${name}.js`), program);
  const output = run(process.execPath, [`readme-of-${name}.js`], consumer, {
    PATH: process.env['PATH'],
    ...environment,
  });
  return output.trimEnd().split('\n');
}

/**
 * The variables that a program reads: for the client a service, for an adapter a place for the running test, which may
 * skip it.
 */
async function environmentOf(name: string, program: string): Promise<NodeJS.ProcessEnv> {
  if (name === 'client') {
    const service = await startService();
    onTestFinished(() => service[Symbol.asyncDispose]());
    return service.environment;
  }
  const variables = [...program.matchAll(/process\.env\.(\w+)/g)].map(([, variable]) => variable as string);
  if (variables.length === 0) return {};
  const { freshPlace } = await import(join(folderOf(name), 'test/fresh-place.ts'));
  return Object.fromEntries(variables.map((variable) => [variable, freshPlace()]));
}

describe('the README', () => {
  test.each(PACKAGES)('of %s introduces the package by its name', (name) => {
    expect(readmeOf(name)).toMatch(new RegExp(`^# @animal-store/${name}\n\n[A-Z]`));
  });

  test.each(PACKAGES.filter((name) => name !== 'adapter-contract'))(
    'of %s shows a program that prints what its comments say',
    async (name) => {
      const program = programOf(name);
      expect(runProgram(name, program, await environmentOf(name, program))).toEqual(promisedOutput(program));
    },
  );

  test('of adapter-contract shows a test file that passes', () => {
    expectContractToPass(consumer, 'readme-of-adapter-contract', programOf('adapter-contract'));
  });
});

test('the programs of all READMEs compile in strict mode', () => {
  const folder = join(consumer, 'strict-readmes');
  mkdirSync(folder);
  for (const name of PACKAGES) writeFileSync(join(folder, `${name}.mts`), programOf(name));
  const compilerOptions = {
    ...{ target: 'es2024', lib: ['es2024'], module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  run(join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false'], folder);
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
