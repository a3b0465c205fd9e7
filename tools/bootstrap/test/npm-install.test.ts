import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
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
