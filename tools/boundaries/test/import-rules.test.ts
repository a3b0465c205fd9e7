import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ICruiseResult } from 'dependency-cruiser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeRepository } from './probe-repository.ts';
import { CLEAN, type Files, NPM_PACKAGES, PROBES } from './probes.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CONFIG = '.dependency-cruiser.mjs';

/** Checks the imports of a repository by its own configuration, as `npm run check` does. */
function cruise(repository: string): ICruiseResult {
  const depcruise = join(ROOT, 'node_modules/.bin/depcruise');
  // The exit code is the number of violations.
  const command = `'${depcruise}' --config ${CONFIG} --output-type json apps packages tools || true`;
  const output = execFileSync('/bin/sh', ['-c', command], { cwd: repository, maxBuffer: 2 ** 26, encoding: 'utf8' });
  return JSON.parse(output);
}

describe('a repository with probes', () => {
  let root: string;
  let result: ICruiseResult;
  const brokenBy = (file: string) => {
    const rules = result.summary.violations
      // A circle is reported for one of its files.
      .filter(({ rule, from, to }) => file === from || (rule.name === 'no-circles' && file === to))
      .map(({ rule }) => rule.name);
    return [...new Set(rules)];
  };

  beforeAll(() => {
    root = writeRepository(Object.assign({}, CLEAN, ...Object.values(PROBES)), NPM_PACKAGES);
    cpSync(join(ROOT, CONFIG), join(root, CONFIG));
    result = cruise(root);
  });
  afterAll(() => rmSync(root, { recursive: true }));

  test('has probes of each rule', () => {
    const rules = result.summary.ruleSetUsed?.forbidden?.map(({ name }) => name) ?? [];
    expect(Object.keys(PROBES).sort()).toEqual([...rules, 'not-in-allowed'].sort());
  });

  test.each(Object.entries<Files>(PROBES))('breaks %s in its probes, and no other rule there', (rule, files) => {
    const probes = Object.keys(files);
    expect(probes.map((file) => [file, ...brokenBy(file)])).toEqual(probes.map((file) => [file, rule]));
  });

  test('breaks no rule in other files', () => {
    const probes = new Set(Object.values<Files>(PROBES).flatMap((files) => Object.keys(files)));
    const sources = Object.keys(CLEAN).filter((file) => file.endsWith('.ts') && !probes.has(file));
    expect(result.modules.map(({ source }) => source)).toEqual(expect.arrayContaining(sources));
    expect(sources.filter((file) => brokenBy(file).length > 0)).toEqual([]);
  });
});

describe('this repository', () => {
  let result: ICruiseResult;
  beforeAll(() => {
    result = cruise(ROOT);
  });

  test('breaks no rule', () => {
    expect(result.summary.violations).toEqual([]);
  });

  // A rule about an import that dependency-cruiser does not see would never fire.
  test.each([
    ['a workspace', /^packages\/adapter-memory\//, /^packages\/domain\/src\/index\.ts$/],
    ['an adapter', /^packages\/app-kit\/src\/storages\.ts$/, /^packages\/adapter-memory\/src\/adapter\.ts$/],
    ['the container', /^apps\/http\/src\/composition\.ts$/, /\/node_modules\/tsyringe\//],
    ['the web framework', /^apps\/http\/src\//, /\/node_modules\/hono\//],
    ['a scoped package', /^apps\/http\/src\//, /\/node_modules\/@hono\/node-server\//],
    ['a driver', /^packages\/adapter-mongodb\/src\//, /\/node_modules\/mongodb\//],
    ['a test library', /^packages\/adapter-contract\/src\//, /\/node_modules\/vitest\//],
    ['a part of Node.js', /^packages\/app-kit\/src\//, /^crypto$/],
  ])('shows dependency-cruiser the import of %s', (_, from, to) => {
    const imported = result.modules
      .filter(({ source }) => from.test(source))
      .flatMap(({ dependencies }) => dependencies.map(({ resolved }) => resolved));
    expect(imported).toContainEqual(expect.stringMatching(to));
  });
});
