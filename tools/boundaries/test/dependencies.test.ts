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

/** The names in the first column of the first table. `@scope/*` stands for several packages. */
function readDocumented(): string[] {
  const [table = ''] = /^\| package .*?\n\n/ms.exec(readFileSync(new URL('docs/dependencies.md', ROOT), 'utf8')) ?? [];
  const [, , ...rows] = table.trimEnd().split('\n');
  return rows.flatMap((row) => (row.split('|')[1] as string).split(',')).map((name) => name.trim());
}

test('docs/dependencies.md gives a reason for each dependency, and for no other package', () => {
  const [dependencies, documented] = [readDependencies(), readDocumented()];
  const has = (name: string, pattern: string) => matchesGlob(name, pattern);
  expect({
    undocumented: dependencies.filter((name) => !documented.some((pattern) => has(name, pattern))),
    unused: documented.filter((pattern) => !dependencies.some((name) => has(name, pattern))),
  }).toEqual({ undocumented: [], unused: [] });
});
