import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ICruiseResult } from 'dependency-cruiser';
import { beforeAll, expect, test } from 'vitest';
import { NPM_PACKAGES, PROBES } from './probes.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const SOURCES =
  '{.dependency-cruiser.mjs,package.json,{apps,packages,tools}/*/{package.json,{src,test}/**/*.{ts,mjs}}}';

/** Copies this repository to a folder, with the links to the packages of each workspace, and adds the probes. */
function copyWithProbes(root: string): void {
  for (const path of globSync(SOURCES, { cwd: ROOT })) cpSync(join(ROOT, path), join(root, path));
  for (const path of globSync('{apps,packages,tools}/*/node_modules', { cwd: ROOT })) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true, verbatimSymlinks: true });
  }
  // Probes may import what their package doesn't depend on.
  const link = (target: string, name: string) => {
    mkdirSync(dirname(join(root, 'node_modules', name)), { recursive: true });
    symlinkSync(target, join(root, 'node_modules', name));
  };
  link(join(ROOT, 'node_modules/.pnpm'), '.pnpm');
  for (const path of globSync('packages/*', { cwd: ROOT }))
    link(join(root, path), path.replace('packages', '@animal-store'));
  for (const name of NPM_PACKAGES)
    link(realpathSync(globSync(`*/*/node_modules/${name}`, { cwd: ROOT })[0] as string), name);
  for (const files of Object.values(PROBES)) {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  }
}

/** Checks the imports of a repository by its own configuration, as `npm run check` does. */
function cruise(root: string): ICruiseResult {
  const depcruise = join(ROOT, 'node_modules/.bin/depcruise');
  // The exit code is the number of violations.
  const command = `'${depcruise}' --config .dependency-cruiser.mjs --output-type json apps packages tools || true`;
  return JSON.parse(execFileSync('/bin/sh', ['-c', command], { cwd: root, maxBuffer: 2 ** 26, encoding: 'utf8' }));
}

let summary: ICruiseResult['summary'];

beforeAll(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'boundary-probes-')));
  try {
    copyWithProbes(root);
    ({ summary } = cruise(root));
  } finally {
    rmSync(root, { recursive: true });
  }
});

/** The files of this repository and of the probes that break a rule, each with the rules that it breaks. */
function violations(): ReadonlyMap<string, readonly string[]> {
  const rules = new Map<string, Set<string>>();
  for (const { rule, from, to } of summary.violations) {
    // A circle is reported for one of its files.
    for (const file of rule.name === 'no-circles' ? [from, to] : [from]) {
      rules.set(file, (rules.get(file) ?? new Set()).add(rule.name));
    }
  }
  return new Map([...rules].map(([file, names]) => [file, [...names]]));
}

test('each rule has probes', () => {
  const rules = summary.ruleSetUsed?.forbidden?.map(({ name }) => name) ?? [];
  expect(Object.keys(PROBES).sort()).toEqual([...rules, 'not-in-allowed'].sort());
});

test.each(Object.entries(PROBES))('the probes of %s break it, and no other rule', (rule, files) => {
  const probes = Object.keys(files);
  expect(probes.map((file) => [file, violations().get(file)])).toEqual(probes.map((file) => [file, [rule]]));
});

test('this repository breaks no rule', () => {
  const probes = new Set(Object.values(PROBES).flatMap((files) => Object.keys(files)));
  expect([...violations()].filter(([file]) => !probes.has(file))).toEqual([]);
});
