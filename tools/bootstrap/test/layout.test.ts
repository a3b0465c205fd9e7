import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Reads JSON with comments that stand on lines of their own. */
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8').replace(/^\s*\/\/.*$/gm, ''));

/** The folders of the packages and applications. */
const published = globSync('{packages,apps}/*/package.json', { cwd: ROOT }).map((file) => join(file, '..'));

describe('the repository', () => {
  test('has one set of compiler options, which its programs, packages and applications extend', () => {
    expect(read('tsconfig.json').extends).toBe('./tsconfig.base.json');
    expect(published).not.toEqual([]);
    const bases = published.map((folder) => [folder, read(`${folder}/tsconfig.build.json`).extends]);
    expect(bases).toEqual(published.map((folder) => [folder, '../../tsconfig.base.json']));
  });

  test('lets Turborepo build, check and test each package and application', () => {
    const tasks = ['build', 'check', 'test'];
    expect(Object.keys(read('turbo.json').tasks)).toEqual(expect.arrayContaining(tasks));
    for (const folder of published) {
      const { scripts } = read(`${folder}/package.json`);
      expect(Object.keys(scripts), folder).toEqual(expect.arrayContaining(tasks));
      // Vitest fails if the name leads to no project.
      expect(scripts.test).toContain(`--project '${folder}*'`);
    }
  });
});
