import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PACKAGES, ROOT, readManifest, run } from './packages.ts';

/** A repository with the manifests of this one, in which a minor change of the domain waits for its release. */
function writeRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'animal-store-release-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const manifests = globSync('{apps,packages,tools}/*/package.json', { cwd: ROOT });
  for (const path of [
    'package.json',
    'pnpm-workspace.yaml',
    'pnpm-lock.yaml',
    '.changeset/config.json',
    ...manifests,
  ]) {
    cpSync(join(ROOT, path), join(root, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, '.gitignore'), 'node_modules\n');
  writeFileSync(join(root, '.changeset/next.md'), '---\n"@animal-store/domain": minor\n---\n\nRead all pages.\n');
  git(root, 'init', '--quiet', '--initial-branch=main');
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message=Read all pages');
  return root;
}

function git(root: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Tests', '-c', 'user.email=tests@example.com', '-c', 'commit.gpgSign=false'];
  return run('git', [...identity, ...args], root);
}

const changeset = (root: string, command: string) => run(join(ROOT, 'node_modules/.bin/changeset'), [command], root);

test('a release gives all packages the next version, a changelog and a tag', () => {
  const root = writeRepository();
  const versions = () => PACKAGES.map((name) => readManifest(join(root, 'packages', name)).version);
  const [before = ''] = versions();
  const [major, minor] = before.split('.').map(Number);
  const next = `${major}.${(minor as number) + 1}.0`;

  changeset(root, 'version');
  expect(new Set(versions())).toEqual(new Set([next]));
  expect(readManifest(join(root, 'apps/http')).version).toBe(readManifest(join(ROOT, 'apps/http')).version);
  expect(existsSync(join(root, '.changeset/next.md'))).toBe(false);
  const changelog = readFileSync(join(root, 'packages/domain/CHANGELOG.md'), 'utf8');
  expect(changelog).toMatch(new RegExp(`^# @animal-store/domain\n\n## ${next}\n[^]*Read all pages\\.`));

  git(root, 'commit', '--quiet', '--all', '--message=Release');
  changeset(root, 'git-tag');
  const tags = git(root, 'tag').trim().split('\n');
  expect(tags.sort()).toEqual(PACKAGES.map((name) => `@animal-store/${name}@${next}`).sort());
});
