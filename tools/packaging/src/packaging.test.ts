import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const PACKAGES = ['domain', 'adapter-memory'] as const;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsc = join(root, 'node_modules/.bin/tsc');

/** A project of somebody else, with nothing of this repository but the two packages as they would be published. */
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'animal-store-consumer-'));
  // What an earlier build left behind would be packed, too.
  for (const name of PACKAGES) rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true });
  run(tsc, ['--build', ...PACKAGES.map((name) => join(root, 'packages', name))], root);

  const { packageManager } = readJson(join(root, 'package.json'));
  for (const name of PACKAGES) {
    const pack = ['--yes', packageManager, 'pack', '--out', join(project, `${name}.tgz`)];
    run('npx', pack, join(root, 'packages', name));
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  // --offline: neither package may need anything that isn't in the two files.
  const tarballs = PACKAGES.map((name) => `./${name}.tgz`);
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], project);
}, 60_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe.each(PACKAGES)('%s, packed', (name) => {
  const files = () =>
    readdirSync(installed(name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed(name).length + 1));

  test('holds the built modules with declarations and sources, its licence, and nothing else', () => {
    const modules = files()
      .filter((file) => /^dist\/[a-z0-9-]+\.js$/.test(file))
      .map((file) => file.slice(5, -3));
    expect(modules).toContain('index');
    const expected = modules.flatMap((name) => [
      ...['.js', '.js.map', '.d.ts', '.d.ts.map'].map((suffix) => `dist/${name}${suffix}`),
      `src/${name}.ts`,
    ]);
    expect(files().sort()).toEqual([...expected, 'LICENSE', 'package.json'].sort());
  });

  test('names only what is in it', () => {
    const manifest = readJson(join(installed(name), 'package.json'));
    expect(manifest.exports).toEqual({ '.': { types: './dist/index.d.ts', default: './dist/index.js' } });
    expect(manifest.dependencies ?? {}).toEqual(name === 'domain' ? {} : { '@animal-store/domain': '1.0.0' });
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|catalog:|publishConfig/);
  });

  test('refers to files that are there', () => {
    for (const file of files().filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
      const text = readFileSync(join(installed(name), file), 'utf8');
      // The compiler leaves `.ts` in declarations, and finds the `.d.ts` beside them.
      const kind = file.endsWith('.js') ? '.js' : '.ts';
      for (const [, specifier = ''] of text.matchAll(/(?:from |import |import\()'(\.[^']*)'/g)) {
        expect(specifier, file).toMatch(/^\.\/[a-z0-9-]+\.[jt]s$/);
        expect(specifier.endsWith(kind), `${specifier} in ${file}`).toBe(true);
        expect(files(), file).toContain(`dist/${specifier.slice(2).replace(/\.ts$/, '.d.ts')}`);
      }
      const map = readJson(join(installed(name), `${file}.map`));
      expect(map.sources, file).toEqual([`../src/${file.replace(/^dist\/|\.js$|\.d\.ts$/g, '')}.ts`]);
    }
  });
});

test('a program of plain JavaScript runs the use cases', () => {
  writeFileSync(
    join(project, 'program.js'),
    `
      import { createMemoryStorage } from '@animal-store/adapter-memory';
      import { createCatalogue, DomainError, INT64_MAX, parseNewPet } from '@animal-store/domain';

      const catalogue = createCatalogue(createMemoryStorage().pets);
      const added = await catalogue.createPet(parseNewPet({ name: 'Rex', categoryId: INT64_MAX, status: 'pending' }));
      const { pets, next } = await catalogue.listPets({ status: 'pending' });
      let refused;
      try {
        await catalogue.getPet(added.id + 1n);
      } catch (error) {
        refused = error instanceof DomainError && error.code;
      }
      const shown = { same: (await catalogue.getPet(added.id)).name, pets, next, refused };
      console.log(JSON.stringify(shown, (_, value) => (typeof value === 'bigint' ? value + 'n' : value)));
    `,
  );
  expect(JSON.parse(run(process.execPath, ['program.js'], project))).toEqual({
    same: 'Rex',
    pets: [{ id: '1n', name: 'Rex', categoryId: '9223372036854775807n', status: 'pending' }],
    next: null,
    refused: 'pet_not_found',
  });
});

describe('a strict TypeScript program', () => {
  const RIGHT = `
    const added: Pet = await catalogue.createPet(parseNewPet({ name: 'Rex', categoryId: 7n, status: 'sold' }));
    const page: PetPage = await catalogue.listPets({ limit: 5, status: 'sold', after: added.id });
    const id: bigint = (await catalogue.getPet(added.id)).id;
    const status: 'available' | 'pending' | 'sold' | undefined = added.status;
    const cause: unknown = new DomainError('pet_not_found', 'gone', { cause: page }).cause;
    export { cause, id, status };
  `;
  const WRONG = {
    'an animal without a category': "catalogue.createPet({ name: 'Rex' });",
    'an animal that was not checked': "catalogue.createPet({ name: 'Rex', categoryId: 7n, status: 'sold' });",
    'a number for an id': 'catalogue.getPet(7);',
    'a status that does not exist': "catalogue.listPets({ status: 'lost' });",
    'a change to a stored animal': "(await catalogue.getPet(7n)).name = 'Max';",
    'an error code that does not exist': "new DomainError('oops', 'no such code');",
  };
  const file = (name: string) => `${name.replaceAll(' ', '-')}.ts`;
  let complaints: readonly string[];

  beforeAll(() => {
    const program = (text: string) => `
      import { createMemoryStorage } from '@animal-store/adapter-memory';
      import { createCatalogue, DomainError, parseNewPet, type Pet, type PetPage } from '@animal-store/domain';
      export const kept: [typeof DomainError, typeof parseNewPet, Pet?, PetPage?] = [DomainError, parseNewPet];
      const catalogue = createCatalogue(createMemoryStorage().pets);
      ${text}
    `;
    mkdirSync(join(project, 'src'));
    for (const [name, text] of Object.entries({ right: RIGHT, ...WRONG })) {
      writeFileSync(join(project, 'src', file(name)), program(text));
    }
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022'],
      module: 'nodenext',
      moduleResolution: 'nodenext',
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      // The declarations themselves are to be right, without Node.js and without the DOM.
      skipLibCheck: false,
      noEmit: true,
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    const { stdout } = spawnSync(tsc, ['--pretty', 'false'], { cwd: project, encoding: 'utf8' });
    complaints = stdout.split('\n').filter((line) => line.includes('error TS'));
  }, 30_000);

  test('that uses the packages rightly is accepted', () => {
    expect(
      complaints.filter((line) => !Object.keys(WRONG).some((name) => line.startsWith(`src/${file(name)}(`))),
    ).toEqual([]);
  });

  test.each(Object.keys(WRONG))('with %s is refused', (name) => {
    const own = complaints.filter((line) => line.startsWith(`src/${file(name)}(`));
    // On its own line, and for its types: not because an import failed.
    expect(own).toEqual([expect.stringMatching(/\(6,\d+\): error TS(?:2322|2345|2540|2739|2741):/)]);
  });
});

function installed(name: string): string {
  return join(project, 'node_modules/@animal-store', name);
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Runs a program to its end. @returns What it wrote. @throws Error with what it wrote, if it fails. */
function run(program: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}
