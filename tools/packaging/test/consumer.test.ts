import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { installed } from './runtimes.ts';

const consumer = inject('consumer');

const COMPILERS = {
  'the TypeScript of this repository': join(import.meta.dirname, '../node_modules/typescript'),
  'the oldest TypeScript that the READMEs name': installed('typescript-oldest'),
};

const RESOLUTIONS = { node16: 'node16', nodenext: 'nodenext', bundler: 'es2022' };

const PROJECTS = Object.entries(COMPILERS).flatMap(([name, compiler]) =>
  Object.entries(RESOLUTIONS).map(([moduleResolution, module]) => [moduleResolution, name, compiler, module] as const),
);

describe.each(PROJECTS)('a strict program with the modules of %s in %s', (moduleResolution, _, compiler, module) => {
  const VALID = `
      const { pet: created }: { pet: Pet } = await catalogue.createPet({ name: 'Rex', categoryId: 7n, status: 'sold' });
      const page: PetPage = await catalogue.listPets({ limit: 5, status: 'sold', after: created.id });
      const id: bigint = (await catalogue.getPet(created.id)).id;
      const status: 'available' | 'pending' | 'sold' | undefined = created.status;
      const cause: unknown = new DomainError('pet_not_found', 'gone', { cause: page }).cause;
      export { cause, id, status };
    `;
  const INVALID = {
    'a pet without a category': "catalogue.createPet({ name: 'Rex' });",
    'a category that is a number': "catalogue.createPet({ name: 'Rex', categoryId: 7 });",
    'an id that is a number': 'catalogue.getPet(7);',
    'an unknown status': "catalogue.listPets({ status: 'lost' });",
    'a change of a stored pet': "(await catalogue.getPet(7n)).name = 'Max';",
    'an unknown error code': "new DomainError('oops', 'no such code');",
  };
  const file = (name: string) => `${name.replaceAll(' ', '-')}.ts`;
  let errors: readonly string[];

  beforeAll(() => {
    const folder = mkdtempSync(join(consumer, 'strict-'));
    const program = (text: string) => `
        import { createMemoryStorage } from '@animal-store/adapter-memory';
        import { createCatalogue, DomainError, type Pet, type PetPage } from '@animal-store/domain';
        export const used: [typeof DomainError, Pet?, PetPage?] = [DomainError];
        const catalogue = createCatalogue(createMemoryStorage().pets);
        ${text}
      `;
    for (const [name, text] of Object.entries({ valid: VALID, ...INVALID })) {
      writeFileSync(join(folder, file(name)), program(text));
    }
    const compilerOptions = {
      ...{
        target: 'es2022',
        lib: ['es2022'],
        ...{ module, moduleResolution },
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
      },
      // Checks the declarations of the packages, too: they need neither Node.js nor the DOM.
      skipLibCheck: false,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const { stdout } = spawnSync(process.execPath, [join(compiler, 'bin/tsc'), '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    });
    errors = stdout.split('\n').filter((line) => line.includes('error TS'));
  });

  test('is accepted if it uses the packages as they are declared', () => {
    const inInvalid = (line: string) => Object.keys(INVALID).some((name) => line.startsWith(`${file(name)}(`));
    expect(errors.filter((line) => !inInvalid(line))).toEqual([]);
  });

  test.each(Object.keys(INVALID))('is rejected with %s', (name) => {
    // The error is on this line and about types, and no failed import.
    expect(errors.filter((line) => line.startsWith(`${file(name)}(`))).toEqual([
      expect.stringMatching(/\(6,\d+\): error TS(?:2322|2345|2540|2739|2741):/),
    ]);
  });
});
