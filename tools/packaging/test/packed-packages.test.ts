import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { folderOf, libraries, PACKAGES, pack, ROOT, readManifest, run, tarball } from './packages.ts';

const consumer = inject('consumer');
const bin = (name: string) => join(import.meta.dirname, '../node_modules/.bin', name);

/** The files of an installed package, relative to its folder. */
function filesOf(name: string): string[] {
  const folder = join(consumer, 'node_modules/@animal-store', name);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

describe.each(PACKAGES)('%s, packed', (name) => {
  const installed = join(consumer, 'node_modules/@animal-store', name);

  test('is correct for publint', () => {
    run(bin('publint'), ['run', tarball(name), '--strict', '--level=suggestion'], consumer);
  });

  test('has types for every entry point, in each way that modules are resolved', () => {
    run(bin('attw'), [tarball(name), '--profile=esm-only', '--no-color'], consumer);
  });

  test('contains each module with its declarations and its source, README, changelog, licence, and no other file', () => {
    const modules = filesOf(name).flatMap((file) => /^dist\/(.+)\.js$/.exec(file)?.[1] ?? []);
    expect(modules).toContain('index');
    const expected = modules.flatMap((module) => [
      ...['.js', '.js.map', '.d.ts', '.d.ts.map'].map((extension) => `dist/${module}${extension}`),
      `src/${module}.ts`,
    ]);
    expect(filesOf(name).sort()).toEqual([...expected, 'README.md', 'CHANGELOG.md', 'LICENSE', 'package.json'].sort());
  });

  test('has source maps that lead to its sources', () => {
    const files = filesOf(name);
    for (const file of files.filter((each) => each.endsWith('.map'))) {
      const { sources } = JSON.parse(readFileSync(join(installed, file), 'utf8')) as { sources: string[] };
      expect(files).toEqual(expect.arrayContaining(sources.map((source) => normalize(join(dirname(file), source)))));
    }
  });

  test('depends on versions instead of workspaces and catalogs, and on no script or tool of the repository', () => {
    const packed = readManifest(installed);
    expect(packed).not.toHaveProperty('scripts');
    expect(packed).not.toHaveProperty('devDependencies');
    expect(JSON.stringify(packed)).not.toMatch(/workspace:|catalog:/);
    for (const [needed, range] of Object.entries({ ...packed.dependencies, ...packed.peerDependencies })) {
      if (needed.startsWith('@animal-store/'))
        expect(range).toBe(`^${readManifest(folderOf(needed.slice(14))).version}`);
    }
  });

  test('leaves the packages that an application shares with it to the application', () => {
    const dependencies = Object.keys(readManifest(installed).dependencies ?? {});
    const shared = dependencies.filter(
      (needed) => needed.startsWith('@animal-store/') || needed === 'mongodb' || needed === 'pg',
    );
    // No public type of a package refers to this one.
    expect(shared.filter((needed) => needed !== '@animal-store/adapter-kit')).toEqual([]);
  });
});

describe.each(PACKAGES)('package.json of %s', (name) => {
  const manifest = readManifest(folderOf(name));

  test('describes the package to registries and bundlers', () => {
    expect(manifest).toMatchObject({
      name: `@animal-store/${name}`,
      description: expect.stringMatching(/^[A-Z].*[^.]$/),
      keywords: expect.arrayContaining([expect.any(String)]),
      license: 'MIT',
      author: 'Animal Store contributors',
      type: 'module',
      sideEffects: false,
      engines: { node: expect.any(String) },
      publishConfig: { access: 'public' },
    });
  });

  test('publishes every entry point of the workspace', () => {
    const { exports, publishConfig } = manifest;
    const published = Object.entries(exports).map(([entry, { '@animal-store/source': _, ...conditions }]) => [
      entry,
      conditions,
    ]);
    expect(publishConfig.exports).toEqual(Object.fromEntries(published));
  });

  test('resolves to one copy of each library in all workspaces', () => {
    for (const library of libraries(manifest)) {
      const installations = globSync(`{apps,packages,tools}/*/node_modules/${library}`, { cwd: ROOT });
      expect(new Set(installations.map((path) => realpathSync(join(ROOT, path)))).size).toBe(1);
    }
  });
});

test.each([
  ['adapter-contract', 'vitest'],
  ['adapter-mongodb', 'mongodb'],
])('%s supports the versions of Node.js that %s supports', (name, library) => {
  const { engines } = readManifest(join(consumer, 'node_modules', library));
  expect(readManifest(folderOf(name)).engines.node).toBe(engines.node);
});

describe('pack', () => {
  /** A workspace with a copy of exact-json, which was built before. */
  function copyWorkspace(): string {
    const root = mkdtempSync(join(tmpdir(), 'animal-store-pack-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const copy = (path: string) => cpSync(join(ROOT, path), join(root, path), { recursive: true });
    for (const file of ['package.json', 'pnpm-workspace.yaml', 'tsconfig.json', 'tsconfig.build.json']) copy(file);
    for (const path of ['src', 'package.json', 'tsconfig.build.json']) copy(`packages/exact-json/${path}`);
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    mkdirSync(join(root, 'packages/exact-json/dist'));
    writeFileSync(join(root, 'packages/exact-json/dist/removed.js'), 'export {};');
    return join(root, 'packages/exact-json');
  }

  test('builds first, and contains no file of an earlier build', () => {
    const folder = copyWorkspace();
    pack(folder, folder);
    const packed = run('tar', ['-tzf', tarball('exact-json')], folder).split('\n');
    expect(packed).toContain('package/dist/index.js');
    expect(packed).not.toContain('package/dist/removed.js');
  });

  test('fails if the build fails', () => {
    const folder = copyWorkspace();
    writeFileSync(join(folder, 'src/index.ts'), 'export const text: string = 1;\n');
    expect(() => pack(folder, folder)).toThrow(/TS2322/);
    expect(existsSync(join(folder, tarball('exact-json')))).toBe(false);
  });
});
