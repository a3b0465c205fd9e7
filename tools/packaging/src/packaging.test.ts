import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsc = join(root, 'node_modules/.bin/tsc');

interface Manifest {
  readonly private?: boolean;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly exports: Record<string, Record<string, string>>;
  readonly publishConfig: { readonly exports: Record<string, Record<string, string>> };
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

/** What is published, in the order of the folders: a new package is among them without a change here. */
const PACKAGES = readdirSync(join(root, 'packages'))
  // A folder that another branch left behind is no package.
  .filter((name) => existsSync(join(root, 'packages', name, 'package.json')) && !source(name).private);

/** Packages of npm that a package needs where it is installed. */
const neededFromOutside = (name: string) => {
  const { dependencies, peerDependencies } = source(name);
  return Object.keys({ ...dependencies, ...peerDependencies }).filter((needed) => !needed.startsWith('@animal-store/'));
};

/** What the domain's README shows: its blocks of code, which build on each other, as one program. */
const readme = readFileSync(join(root, 'packages/domain/README.md'), 'utf8');
const shownProgram = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code).join('\n');

/** A project of somebody else, with nothing of this repository but the packages as they would be published. */
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'animal-store-consumer-'));
  // What an earlier build left behind would be packed, too.
  for (const name of PACKAGES) rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true });
  run(tsc, ['--build', ...PACKAGES.map((name) => join(root, 'packages', name, 'tsconfig.build.json'))], root);

  const { packageManager } = readJson(join(root, 'package.json'));
  for (const name of PACKAGES) {
    const pack = ['--yes', packageManager, 'pack', '--out', join(project, `${name}.tgz`)];
    run('npx', pack, join(root, 'packages', name));
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  // --offline: these may not need anything that isn't in the files themselves.
  const selfContained = PACKAGES.filter((name) => neededFromOutside(name).length === 0);
  const tarballs = selfContained.map((name) => `./${name}.tgz`);
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], project);
  // The rest is laid beside them by hand, with what it needs as it is installed here: no registry is asked.
  for (const name of PACKAGES.filter((name) => !selfContained.includes(name))) {
    mkdirSync(installed(name), { recursive: true });
    run('tar', ['-xzf', `${name}.tgz`, '--strip-components=1', '-C', installed(name)], project);
    for (const needed of neededFromOutside(name)) {
      const link = join(project, 'node_modules', needed);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, 'packages', name, 'node_modules', needed), link);
    }
  }
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe.each(PACKAGES)('%s, packed', (name) => {
  const files = () =>
    readdirSync(installed(name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed(name).length + 1));

  test('holds the built modules with declarations and sources, its licence, and nothing else', () => {
    const modules = files()
      .filter((file) => /^dist\/(?:[a-z0-9-]+\/)*[a-z0-9-]+\.js$/.test(file))
      .map((file) => file.slice(5, -3));
    expect(modules).toContain('index');
    const expected = modules.flatMap((name) => [
      ...['.js', '.js.map', '.d.ts', '.d.ts.map'].map((suffix) => `dist/${name}${suffix}`),
      `src/${name}.ts`,
    ]);
    const readme = name === 'domain' ? ['README.md'] : [];
    expect(files().sort()).toEqual([...expected, ...readme, 'LICENSE', 'package.json'].sort());
    expect(readFileSync(join(installed(name), 'LICENSE'), 'utf8')).toMatch(/^MIT License\n/);
  });

  test('names only what is in it, and what can be had', () => {
    const manifest = readJson(join(installed(name), 'package.json')) as Manifest;
    expect(manifest.exports).toEqual(source(name).publishConfig.exports);
    expect(manifest.exports['.']).toEqual({ types: './dist/index.d.ts', default: './dist/index.js' });
    const named = Object.values(manifest.exports).flatMap((conditions) => Object.values(conditions));
    expect(files()).toEqual(expect.arrayContaining(named.map((file) => file.slice(2))));
    expect(Object.keys(manifest.dependencies ?? {})).toEqual(Object.keys(source(name).dependencies ?? {}));
    for (const [needed, version] of Object.entries(manifest.dependencies ?? {})) {
      if (needed.startsWith('@animal-store/')) expect(version).toBe(source(needed.slice(14)).version);
    }
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|catalog:|publishConfig/);
  });

  test('is imported by its name and its other entry points', () => {
    const entries = Object.keys(source(name).exports).map((entry) => `@animal-store/${name}${entry.slice(1)}`);
    const script = `for (const entry of ${JSON.stringify(entries)}) console.log(Object.keys(await import(entry)).length > 0)`;
    const printed = run(process.execPath, ['--input-type=module', '--eval', script], project);
    expect(printed).toBe('true\n'.repeat(entries.length));
  });

  test('refers to files that are there', () => {
    for (const file of files().filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
      const text = readFileSync(join(installed(name), file), 'utf8');
      // The compiler leaves `.ts` in declarations, and finds the `.d.ts` beside them.
      const kind = file.endsWith('.js') ? '.js' : '.ts';
      for (const [, specifier = ''] of text.matchAll(/(?:from |import |import\()'(\.[^']*)'/g)) {
        expect(specifier.endsWith(kind), `${specifier} in ${file}`).toBe(true);
        const target = normalize(join(dirname(file), specifier)).replace(/\.ts$/, '.d.ts');
        expect(files(), `${specifier} in ${file}`).toContain(target);
      }
      const map = readJson(join(installed(name), `${file}.map`));
      const origin = `src/${file.replace(/^dist\/|\.js$|\.d\.ts$/g, '')}.ts`;
      expect(map.sources, file).toEqual([relative(dirname(file), origin)]);
    }
  });
});

test.each([
  ['adapter-contract', 'vitest'],
  ['adapter-mongodb', 'mongodb'],
])('%s runs on every Node.js that %s runs on, and on no other', (name, needed) => {
  const { engines } = readJson(join(project, 'node_modules', needed, 'package.json')) as Manifest;
  expect(source(name).engines.node).toBe(engines.node);
});

test('an adapter that is written elsewhere can be tested with the contract', () => {
  const tests = `
    import { storageContract } from '@animal-store/adapter-contract';
    import { createMemoryStorage } from '@animal-store/adapter-memory';

    storageContract('theirs', createMemoryStorage);
  `;
  writeFileSync(join(project, 'theirs.test.js'), tests);
  const vitest = join(project, 'node_modules/vitest/vitest.mjs');
  run(process.execPath, [vitest, 'run', '--reporter=json', '--outputFile=report.json'], project);
  const report = readJson(join(project, 'report.json'));
  expect(report).toMatchObject({ success: true, numFailedTests: 0, numPendingTests: 0 });
  expect(report.numPassedTests).toBeGreaterThan(40);
}, 30_000);

describe("the domain's README", () => {
  test('shows a program that prints what it says', () => {
    const promised = [...shownProgram.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
    expect(promised.length).toBe(shownProgram.match(/console\.log/g)?.length);
    writeFileSync(join(project, 'readme.js'), shownProgram);
    expect(run(process.execPath, ['readme.js'], project).trimEnd().split('\n')).toEqual(promised);
  });

  test('says what JSON.stringify does with a pet', () => {
    const stringified = shownProgram.replace('console.log(stringify(rex))', 'console.log(JSON.stringify(rex))');
    expect(stringified).not.toBe(shownProgram);
    writeFileSync(join(project, 'stringified.js'), stringified);
    expect(() => run(process.execPath, ['stringified.js'], project)).toThrow(
      /TypeError: Do not know how to serialize a BigInt/,
    );
  });

  test('names each error code', () => {
    const codes = readFileSync(join(installed('domain'), 'src/domain-error.ts'), 'utf8').match(
      /(?<=\| ')[a-z_]+(?=')/g,
    );
    expect([...readme.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, code]) => code)).toEqual(codes);
  });
});

test.each(['memory', 'sqlite'])('a program of plain JavaScript runs the use cases with the adapter for %s', (name) => {
  writeFileSync(
    join(project, 'program.js'),
    `
      import { adapter } from '@animal-store/adapter-${name}';
      import { createCatalogue, DomainError, LIMITS } from '@animal-store/domain';

      await using storage = adapter.open('pets.db');
      const catalogue = createCatalogue(storage.pets);
      const added = await catalogue.createPet({ name: 'Rex', categoryId: LIMITS.categoryId.max, status: 'pending' });
      const { pets, next } = await catalogue.listPets({ status: 'pending' });
      let refused;
      try {
        await catalogue.getPet(added.id + 1n);
      } catch (error) {
        refused = DomainError.is(error) && error.code;
      }
      const quote = { same: (await catalogue.getPet(added.id)).name, pets, next, refused };
      console.log(JSON.stringify(quote, (_, value) => (typeof value === 'bigint' ? value + 'n' : value)));
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
    const added: Pet = await catalogue.createPet({ name: 'Rex', categoryId: 7n, status: 'sold' });
    const page: PetPage = await catalogue.listPets({ limit: 5, status: 'sold', after: added.id });
    const id: bigint = (await catalogue.getPet(added.id)).id;
    const status: 'available' | 'pending' | 'sold' | undefined = added.status;
    const cause: unknown = new DomainError('pet_not_found', 'gone', { cause: page }).cause;
    export { cause, id, status };
  `;
  const WRONG = {
    'a pet without a category': "catalogue.createPet({ name: 'Rex' });",
    'a category that is a number': "catalogue.createPet({ name: 'Rex', categoryId: 7 });",
    'a number for an id': 'catalogue.getPet(7);',
    'a status that does not exist': "catalogue.listPets({ status: 'lost' });",
    'a change to a stored pet': "(await catalogue.getPet(7n)).name = 'Max';",
    'an error code that does not exist': "new DomainError('oops', 'no such code');",
  };
  const file = (name: string) => `${name.replaceAll(' ', '-')}.ts`;
  let complaints: readonly string[];

  beforeAll(() => {
    const using = (text: string) => `
      import { createMemoryStorage } from '@animal-store/adapter-memory';
      import { createCatalogue, DomainError, type Pet, type PetPage } from '@animal-store/domain';
      export const kept: [typeof DomainError, Pet?, PetPage?] = [DomainError];
      const catalogue = createCatalogue(createMemoryStorage().pets);
      ${text}
    `;
    mkdirSync(join(project, 'src'));
    for (const [name, text] of Object.entries({ right: RIGHT, ...WRONG })) {
      writeFileSync(join(project, 'src', file(name)), using(text));
    }
    const withConsole = `declare const console: { log(quote: unknown): void };\n${shownProgram}`;
    writeFileSync(join(project, 'src', 'readme.ts'), withConsole);
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

/** The package.json of a package as it stands in the repository. */
function source(name: string): Manifest {
  return readJson(join(root, 'packages', name, 'package.json'));
}

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
