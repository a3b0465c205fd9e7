import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { run } from '@animal-store/test-kit/programs';
import { describe, expect, inject, test } from 'vitest';
import { folderOf, PACKAGES, readManifest, tarball } from './packages.ts';

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

  test('is correct for publint', async () => {
    await run(bin('publint'), ['run', tarball(name), '--strict', '--level=suggestion'], { cwd: consumer });
  });

  test('has types for every entry point, in each way that modules are resolved', async () => {
    await run(bin('attw'), [tarball(name), '--profile=esm-only', '--no-color'], { cwd: consumer });
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

  test('depends on versions instead of workspaces and catalogs', () => {
    const packed = readManifest(installed);
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
    // No public type of a package refers to these.
    expect(shared.filter((needed) => !/^@animal-store\/(?:adapter-\w+|exact-json)$/.test(needed))).toEqual([]);
  });
});

test.each([
  ['adapter-contract', 'vitest'],
  ['adapter-mongodb', 'mongodb'],
])('%s supports the versions of Node.js that %s supports', (name, library) => {
  const { engines } = readManifest(join(consumer, 'node_modules', library));
  expect(readManifest(folderOf(name)).engines.node).toBe(engines.node);
});
