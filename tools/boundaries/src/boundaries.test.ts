import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cruise, cruiseRepository, type Violation } from './cruise-repository.ts';
import { writeRepository } from './probe-repository.ts';
import { CLEAN, type Files, NPM_PACKAGES, PROBES } from './probes.ts';
import { RULES, type RuleName } from './rules.ts';

describe('a repository in miniature with a violation in each probe', () => {
  let root: string;
  let cruise: Cruise;
  // A circle is reported for one of its files.
  const breaks = (file: string, { rule, from, to }: Violation) =>
    file === from || (rule === 'no-circles' && file === to);
  const rulesBrokenBy = (file: string) => [
    ...new Set(cruise.violations.filter((violation) => breaks(file, violation)).map(({ rule }) => rule)),
  ];

  beforeAll(async () => {
    root = writeRepository(Object.assign({}, CLEAN, ...Object.values(PROBES)), NPM_PACKAGES);
    cruise = await cruiseRepository(root);
  });
  afterAll(() => rmSync(root, { recursive: true }));

  test.each(Object.keys(RULES) as RuleName[])('%s fires, and no other rule', (rule) => {
    const probes = Object.keys((PROBES as Record<RuleName, Files>)[rule] ?? {});
    expect(probes.length, 'probes').toBeGreaterThan(0);
    expect(probes.map((file) => [file, ...rulesBrokenBy(file)])).toEqual(probes.map((file) => [file, rule]));
  });

  test('nothing else is found', () => {
    const sources = Object.keys(CLEAN).filter((file) => file.endsWith('.ts'));
    expect(cruise.modules.map(({ source }) => source)).toEqual(expect.arrayContaining(sources));
    expect(sources.filter((file) => rulesBrokenBy(file).length > 0)).toEqual([]);
  });
});

describe('this repository', () => {
  let cruise: Cruise;
  beforeAll(async () => {
    cruise = await cruiseRepository(fileURLToPath(new URL('../../..', import.meta.url)));
  });

  test('keeps to every rule', () => {
    expect(cruise.violations).toEqual([]);
  });

  // A rule about something that the cruiser can't see would never fire.
  test.each([
    ['a workspace package', /^packages\/adapter-memory\//, /^packages\/domain\/src\/index\.ts$/],
    ['an adapter', /^packages\/app-kit\/src\/storages\.ts$/, /^packages\/adapter-memory\/src\/index\.ts$/],
    ['the container', /^apps\/http\/src\/composition\.ts$/, /\/node_modules\/tsyringe\//],
    ['the web framework', /^apps\/http\/src\//, /\/node_modules\/hono\//],
    ['a scoped package', /^apps\/http\/src\//, /\/node_modules\/@hono\/node-server\//],
    ['a driver', /^packages\/adapter-mongodb\/src\//, /\/node_modules\/mongodb\//],
    ['a test library', /^packages\/adapter-contract\/src\//, /\/node_modules\/vitest\//],
    ['a part of Node.js', /^apps\/http\/src\//, /^crypto$/],
  ])('%s is seen where it is imported', (_, from, to) => {
    const seen = cruise.modules.filter(({ source }) => from.test(source)).flatMap(({ dependencies }) => dependencies);
    expect(seen.map(({ resolved }) => resolved)).toContainEqual(expect.stringMatching(to));
  });
});
