import { globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** The npm packages that the workspaces depend on, without types. */
function readDependencies(): string[] {
  const manifests = globSync('{package.json,{apps,packages,tools}/*/package.json}', { cwd: ROOT });
  expect(manifests.length).toBeGreaterThan(10);
  const names = manifests.flatMap((path) => {
    const manifest = JSON.parse(readFileSync(new URL(path, ROOT), 'utf8')) as Manifest;
    const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest;
    return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies });
  });
  return [...new Set(names)].filter((name) => !/^@(?:animal-store|types)\//.test(name));
}

/** The names before the colon of each line. `@scope/*` stands for several packages. */
function readDocumented(): string[] {
  const lines = readFileSync(new URL('docs/dependencies.md', ROOT), 'utf8').matchAll(/^- (.+?): /gm);
  return [...lines].flatMap(([, names = '']) => names.split(', '));
}

test('docs/dependencies.md gives a reason for each dependency, and for no other package', () => {
  const [dependencies, documented] = [readDependencies(), readDocumented()];
  const has = (name: string, pattern: string) => matchesGlob(name, pattern);
  expect({
    undocumented: dependencies.filter((name) => !documented.some((pattern) => has(name, pattern))),
    unused: documented.filter((pattern) => !dependencies.some((name) => has(name, pattern))),
  }).toEqual({ undocumented: [], unused: [] });
});
