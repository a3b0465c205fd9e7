import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@animal-store/test-kit/programs';
import { callsTo, startService } from '@animal-store/test-kit/service';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { expectContractToPass } from './contract.ts';
import { folderOf, PACKAGES, packagesOf, programOf, promisedOutput, readManifest } from './packages.ts';
import { oldestNode, RUNTIMES, supports } from './runtimes.ts';

const consumer = inject('consumer');

const MEMORY_CONTRACT = `
  import { storageContract } from '@animal-store/adapter-contract';
  import { createMemory, openMemory } from './node_modules/@animal-store/adapter-memory/dist/open.js';

  storageContract('memory', { freshPlace: createMemory, open: openMemory, interruptions: 'not tested' });
`;

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
  const { adapter } = await import(join(folderOf(name), 'src/adapter.ts'));
  const places = variables.map((variable) => [variable, freshPlace()] as const);
  for (const [, place] of places) {
    // A busy server makes a new place more slowly than a call may take.
    const storage = await adapter.open(place);
    await expect.poll(() => storage.ready().then(() => null, String)).toBe(null);
    await storage.close();
  }
  return Object.fromEntries(places);
}

/** Runtimes differ in the quotes and line ends of objects that they print. */
const plain = (text: string) => text.replaceAll('"', "'").replaceAll(/,?\s+/g, ' ').trim();

test.each(PACKAGES)('%s is tested on the oldest Node.js in its engines', (name) => {
  expect(RUNTIMES.map(({ node }) => node)).toContainEqual(expect.stringMatching(`^${oldestNode(name)}(?:\\.|$)`));
});

test.skipIf(inject('missing').includes('Bun'))(
  'Bun serves the HTTP application as docs/examples/bun.ts shows',
  async () => {
    const [bun] = RUNTIMES.flatMap(({ name, command }) => (name === 'Bun' ? command : []));
    const example = join(import.meta.dirname, '../../../docs/examples/bun.ts');
    const child = spawn(bun as string, ['--conditions=@animal-store/source', example]);
    onTestFinished(() => void child.kill());
    const [line] = await once(child.stdout, 'data');
    const { call, add } = callsTo(/http:\S+/.exec(String(line))?.[0] as string);
    const key = 'the-key-of-an-example';
    expect(await (await add('Rex', key)).text()).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807}');
    expect((await call('/v1/pets', key, { method: 'POST', body: ' '.repeat(70_000) })).status).toBe(413);
    expect((await call('/v1/pets')).status).toBe(401);
  },
);

for (const runtime of RUNTIMES) {
  const slug = runtime.name.replace(/\W+/g, '-');

  describe.skipIf(inject('missing').includes(runtime.name))(`in ${runtime.name}`, () => {
    const runProgram = (file: string, program: string, environment: NodeJS.ProcessEnv = {}) => {
      const [command, ...args] = runtime.command;
      writeFileSync(join(consumer, file), program);
      return run(command, [...args, file], { cwd: consumer, env: { PATH: process.env['PATH'], ...environment } });
    };

    test.each(PACKAGES.filter((name) => supports(name, runtime)))(
      '%s can be imported by its entry points',
      async (name) => {
        const entries = Object.keys(readManifest(folderOf(name)).exports).map((entry) => entry.slice(1));
        const imports = entries.map((entry) => `import '@animal-store/${name}${entry}';`);
        const program = [...imports, "console.log('imported');"].join('\n');
        expect(await runProgram(`import-${name}-in-${slug}.mjs`, program)).toBe('imported\n');
      },
    );

    const shown = PACKAGES.filter((name) => packagesOf(programOf(name)).every((other) => supports(other, runtime)));
    test.each(shown.filter((name) => name !== 'adapter-contract'))(
      'the README of %s shows a program that prints what its comments say',
      async (name) => {
        const program = programOf(name);
        const environment = await environmentOf(name, program);
        const output = await runProgram(`readme-of-${name}-in-${slug}.mjs`, program, environment);
        expect(plain(output)).toBe(plain(promisedOutput(program).join('\n')));
      },
    );

    if (supports('adapter-contract', runtime)) {
      test('an adapter passes the contract', async () => {
        // The README's example is an adapter that supports fewer versions of Node.js than the contract.
        const tests = shown.includes('adapter-contract') ? programOf('adapter-contract') : MEMORY_CONTRACT;
        await expectContractToPass(consumer, `contract-in-${slug}`, tests, runtime.command[0]);
      });
    }
  });
}
