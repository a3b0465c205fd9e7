import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);

const readJson = (path: string) => JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));

// Without a reference a build finds the declarations of an earlier build, or none.
test.each(globSync('{apps,packages}/*/tsconfig.build.json', { cwd: ROOT }))(
  '%s refers to each workspace that its package.json names, and to no other',
  (path) => {
    const workspace = dirname(path);
    const { dependencies, peerDependencies } = readJson(`${workspace}/package.json`);
    const expected = Object.keys({ ...dependencies, ...peerDependencies })
      .filter((name) => name.startsWith('@animal-store/'))
      .map((name) => `packages/${name.slice('@animal-store/'.length)}/tsconfig.build.json`);
    const references: { path: string }[] = readJson(path).references ?? [];
    const referred = references.map((reference) => new URL(reference.path, new URL(path, ROOT)).pathname);
    expect(referred.map((target) => target.slice(ROOT.pathname.length)).sort()).toEqual(expected.sort());
  },
);
