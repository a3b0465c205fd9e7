import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from '@animal-store/test-kit/programs';
import { expect, inject, test } from 'vitest';
import { PACKAGES, programOf, readManifest, readmeOf } from './packages.ts';
import { installed, oldestNode, supports } from './runtimes.ts';

const consumer = inject('consumer');

test.each(PACKAGES)('the README of %s says where the package runs', (name) => {
  const places = [`Node.js ${oldestNode(name).replace(/\.0$/, '')}`, 'Bun', 'Deno'];
  const runtimes = supports(name, { name: 'Bun', command: ['bun'] }) ? places : places.slice(0, 1);
  const [typescript] = /^\d+\.\d+/.exec(readManifest(installed('typescript-oldest')).version) as RegExpExecArray;
  const [, section] = readmeOf(name).replaceAll('\n', ' ').split('## Where it runs');
  for (const part of ['ES modules only', ...runtimes, `TypeScript ${typescript} or newer`]) {
    expect(section).toContain(part);
  }
});

test('the programs of all READMEs compile in strict mode', async () => {
  const folder = join(consumer, 'strict-readmes');
  mkdirSync(folder);
  for (const name of PACKAGES) writeFileSync(join(folder, `${name}.mts`), programOf(name));
  const compilerOptions = {
    ...{ target: 'es2024', lib: ['es2024'], module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false'], { cwd: folder });
});
