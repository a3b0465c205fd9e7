import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** What the packages of the repository need from outside it. Types of a package come with it. */
function dependencies(): Set<string> {
  const manifests = globSync('{package.json,{apps,packages,tools}/*/package.json}', { cwd: ROOT });
  expect(manifests.length).toBeGreaterThan(10);
  const names = manifests.flatMap((path) => {
    const manifest = JSON.parse(readFileSync(new URL(path, ROOT), 'utf8')) as Manifest;
    return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies });
  });
  return new Set(names.filter((name) => !/^@(?:animal-store|types)\//.test(name)));
}

test('each dependency earns its place in a line of the documentation, and each line is of one', () => {
  const table = readFileSync(new URL('docs/dependencies.md', ROOT), 'utf8').match(/^\| [@a-z].*$/gm) ?? [];
  const explained = table
    .slice(1)
    .flatMap((line) => (line.split('|')[1] as string).split(','))
    .map((name) => name.trim());
  expect(explained.sort()).toEqual([...dependencies()].sort());
});
