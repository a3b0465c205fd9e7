import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test.each([['npm install'], ['npm install some-package']])('%s fails, and says in one line what to run', (command) => {
  const root = mkdtempSync(join(tmpdir(), 'npm-install-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  cpSync(new URL('../../../package.json', import.meta.url), join(root, 'package.json'));
  const { status, stderr } = spawnSync('/bin/sh', ['-c', command], { cwd: root, encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toMatch(/^npm error .*npm start and npm test install the dependencies$/m);
  expect(readdirSync(root)).toEqual(['package.json']);
});

test('npm start in a checkout that cannot be written says so in one line', () => {
  const root = mkdtempSync(join(tmpdir(), 'read-only-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const repository = new URL('../../../', import.meta.url);
  for (const name of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'tools/bootstrap']) {
    cpSync(new URL(name, repository), join(root, name), { recursive: true });
  }
  for (const name of ['apps', 'packages']) mkdirSync(join(root, name));
  chmodSync(root, 0o555);
  // Root can write everywhere.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { status, stderr } = spawnSync('npm', ['start', '--silent'], { cwd: root, encoding: 'utf8', ...user });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^animal-store: the dependencies can't be installed: EACCES: permission denied, .*\n$/);
});
