import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

test('the import rules reject an adapter that imports another one, and no import of the domain', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'import-rules-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(ROOT, '.dependency-cruiser.mjs'), join(folder, '.dependency-cruiser.mjs'));
  const files = {
    'packages/domain/src/index.ts': 'export const domain = 1;',
    'packages/adapter-memory/src/index.ts': "export * from '../../domain/src/index.ts';",
    'packages/adapter-sqlite/src/index.ts': "export * from '../../adapter-memory/src/index.ts';",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const depcruise = join(ROOT, 'node_modules/.bin/depcruise');
  const options = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'packages'];
  const { stdout } = spawnSync(depcruise, options, { cwd: folder, encoding: 'utf8' });
  const violations: { rule: { name: string }; from: string }[] = JSON.parse(stdout).summary.violations;
  expect(violations.filter(({ rule }) => rule.name === 'not-in-allowed').map(({ from }) => from)).toEqual([
    'packages/adapter-sqlite/src/index.ts',
  ]);
});
