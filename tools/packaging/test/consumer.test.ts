import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@animal-store/test-kit/programs';
import { describe, inject, test } from 'vitest';
import { installed } from './runtimes.ts';

const COMPILERS = {
  'the TypeScript of this repository': join(import.meta.dirname, '../node_modules/typescript'),
  'the oldest TypeScript that the READMEs name': installed('typescript-oldest'),
};

/** TypeScript reports each expected error that it does not find, such as in a value of type any. */
const PROGRAM = `
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue, DomainError, type Pet, type PetPage } from '@animal-store/domain';

const catalogue = createCatalogue(createMemoryStorage().pets);
const { pet: created }: { pet: Pet } = await catalogue.createPet({ name: 'Rex', categoryId: 7n, status: 'sold' });
const page: PetPage = await catalogue.listPets({ limit: 5, status: 'sold', after: created.id });
export const id: bigint = (await catalogue.getPet(created.id)).id;
export const status: 'available' | 'pending' | 'sold' | undefined = created.status;
export const cause: unknown = new DomainError('pet_not_found', 'gone', { cause: page }).cause;
// @ts-expect-error A pet without a category.
catalogue.createPet({ name: 'Rex' });
// @ts-expect-error A category that is a number.
catalogue.createPet({ name: 'Rex', categoryId: 7 });
// @ts-expect-error An id that is a number.
catalogue.getPet(7);
// @ts-expect-error An unknown status.
catalogue.listPets({ status: 'lost' });
// @ts-expect-error A change of a stored pet.
created.name = 'Max';
// @ts-expect-error An unknown error code.
new DomainError('oops', 'no such code');
`;

const OPTIONS = {
  ...{ target: 'es2022', lib: ['es2022'], types: [], strict: true, exactOptionalPropertyTypes: true, noEmit: true },
  // Checks the declarations of the packages, too: they need neither Node.js nor the DOM.
  skipLibCheck: false,
};

describe.each(Object.entries(COMPILERS))('a strict program that %s compiles', (_, compiler) => {
  test.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['bundler', 'es2022'],
  ])(
    'can use the packages as they are declared, and not otherwise, with the modules of %s',
    async (moduleResolution, module) => {
      const folder = mkdtempSync(join(inject('consumer'), 'strict-'));
      const compilerOptions = { ...OPTIONS, module, moduleResolution };
      writeFileSync(join(folder, 'program.ts'), PROGRAM);
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      await run(process.execPath, [join(compiler, 'bin/tsc'), '--pretty', 'false'], { cwd: folder });
    },
  );
});
