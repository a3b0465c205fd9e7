import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '@animal-store/clients/service';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { expectContractToPass } from './contract.ts';
import { folderOf, PACKAGES, readManifest, run } from './packages.ts';
import { oldestNode, RUNTIMES, supports } from './runtimes.ts';

const consumer = inject('consumer');

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

/** Programs that use a package, with what they print. */
const PROGRAMS: Readonly<Record<string, readonly [string, string]>> = {
  'adapter-memory': [
    `
      import { createMemoryStorage } from '@animal-store/adapter-memory';
      import { createCatalogue, DomainError, LIMITS } from '@animal-store/domain';

      const storage = createMemoryStorage();
      const catalogue = createCatalogue(storage.pets);
      const { id } = await catalogue.createPet({ name: 'Rex', categoryId: LIMITS.categoryId.max });
      const { categoryId } = await catalogue.getPet(id);
      const code = await catalogue.getPet(99n).catch((error) => DomainError.is(error) && error.code);
      await storage[Symbol.asyncDispose]();
      console.log(String(categoryId), code);
    `,
    '9223372036854775807 pet_not_found\n',
  ],
  'exact-json': [
    `
      import { parse, stringify } from '@animal-store/exact-json';
      console.log(stringify(parse('{"id":42,"categoryId":9223372036854775807}')));
    `,
    '{"id":42,"categoryId":9223372036854775807}\n',
  ],
  client: [
    `
      import { createClient } from '@animal-store/client';
      const client = createClient({ url: process.env.BASE_URL, key: process.env.API_KEY, onDeprecation() {} });
      const { id } = await client.createPet({ name: 'Rex', categoryId: 9223372036854775807n });
      const { categoryId } = await client.getPet(id);
      let found = 0;
      for await (const pet of client.allPets()) if (pet.id === id) found += 1;
      const { code, requestId } = await client.getPet(0n).catch((error) => error);
      console.log(String(categoryId), found, code, typeof requestId);
    `,
    '9223372036854775807 1 pet_not_found string\n',
  ],
  'adapter-mongodb': [
    `
      import { createMongoStorage } from '@animal-store/adapter-mongodb';
      const storage = createMongoStorage({ url: 'mongodb://127.0.0.1:1/animals', timeLimits: { serverSelection: 200 } });
      try {
        await storage.pets.find(1n);
      } catch (error) {
        console.log(error.code);
      }
      await storage.close();
    `,
    'storage_unavailable\n',
  ],
  'adapter-postgres': [
    `
      import { createPostgresStorage } from '@animal-store/adapter-postgres';
      const storage = createPostgresStorage({ url: 'postgres://127.0.0.1:1/animals' });
      try {
        await storage.pets.find(1n);
      } catch (error) {
        console.log(error.code);
      }
      await storage.close();
    `,
    'storage_unavailable\n',
  ],
  'adapter-sqlite': [
    `
      import { createSqliteStorage } from '@animal-store/adapter-sqlite';
      const storage = createSqliteStorage({ file: 'pets-' + process.version + '.db' });
      const { pet: { id } } = await storage.pets.add({ name: 'Rex\\0', categoryId: 7n });
      const { name } = await storage.pets.find(id);
      await storage.close();
      console.log(String(id), JSON.stringify(name));
    `,
    '1 "Rex\\u0000"\n',
  ],
  'http-server': [
    `
      import { startServer } from '@animal-store/http-server';
      const server = await startServer((request, response) => response.end('this is ' + request.url), {
        host: '127.0.0.1',
        port: 0,
        maxConnections: 10,
        renderRejection: ({ message }) => ({ headers: {}, body: message }),
      });
      const response = await fetch('http://127.0.0.1:' + server.address.port + '/pets');
      console.log(await response.text());
      await server.stop({ grace: 0, deadline: 1_000 });
    `,
    'this is /pets\n',
  ],
};

test.each(PACKAGES)('%s is tested on the oldest Node.js in its engines', (name) => {
  expect(RUNTIMES.map(({ node }) => node)).toContainEqual(expect.stringMatching(`^${oldestNode(name)}(?:\\.|$)`));
});

for (const runtime of RUNTIMES) {
  const slug = runtime.name.replace(/\W+/g, '-');

  describe.skipIf(inject('missingRuntimes').includes(runtime.name))(`in ${runtime.name}`, () => {
    const runProgram = (name: string, program: string) => {
      const [command, ...args] = runtime.command;
      const file = `${name}-in-${slug}.mjs`;
      writeFileSync(join(consumer, file), program);
      return run(command, [...args, file], consumer, { ...process.env, ...service.environment });
    };

    test.each(PACKAGES.filter((name) => supports(name, runtime)))('%s can be imported by its entry points', (name) => {
      const entries = Object.keys(readManifest(folderOf(name)).exports).map((entry) => entry.slice(1));
      const imports = entries.map((entry) => `import '@animal-store/${name}${entry}';`);
      expect(runProgram(`import-${name}`, [...imports, "console.log('imported');"].join('\n'))).toBe('imported\n');
    });

    const programs = Object.entries(PROGRAMS).filter(([name]) => supports(name, runtime));
    test.each(programs)('a program uses %s', (name, [program, output]) => {
      expect(runProgram(`use-${name}`, program)).toBe(output);
    });

    if (!supports('exact-json', runtime)) {
      test('exact-json throws at import, and rounds no integer', () => {
        expect(() => runProgram('import-exact-json', "import '@animal-store/exact-json';")).toThrow(
          '@animal-store/exact-json needs JSON.rawJSON',
        );
      });
    }

    if (runtime.name === 'Bun') {
      test('the client takes 5 kB at most in a browser', () => {
        const [bun] = runtime.command;
        const entry = join(consumer, 'node_modules/@animal-store/client/dist/index.js');
        const bundle = run(bun, ['build', '--minify', '--target=browser', entry], consumer);
        expect(bundle.length).toBeLessThan(5_000);
      });
    }

    if (!supports('adapter-contract', runtime)) return;

    test('an adapter passes the contract', () => {
      const tests = `
        import { storageContract } from '@animal-store/adapter-contract';
        import { createMemory, openMemory } from './node_modules/@animal-store/adapter-memory/dist/memory-storage.js';

        storageContract('memory', { freshPlace: createMemory, open: openMemory });
      `;
      expectContractToPass(consumer, `contract-in-${slug}`, tests, runtime.command[0]);
    });
  });
}
