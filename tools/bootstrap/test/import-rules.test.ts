import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The imports that the rules reject in a tree of these files, as rule and file. */
function violations(files: Record<string, string>): string[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'import-rules-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(ROOT, '.dependency-cruiser.mjs'), join(folder, '.dependency-cruiser.mjs'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const depcruise = join(ROOT, 'node_modules/.bin/depcruise');
  const roots = [...new Set(Object.keys(files).map((path) => path.split('/')[0] as string))];
  const options = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', ...roots];
  const { stdout } = spawnSync(depcruise, options, { cwd: folder, encoding: 'utf8' });
  const found: { rule: { name: string }; from: string }[] = JSON.parse(stdout).summary.violations;
  return found.map(({ rule, from }) => `${rule.name}: ${from}`);
}

test('the import rules reject an adapter that imports another one, and no import of the domain', () => {
  const files = {
    'packages/domain/src/index.ts': 'export const domain = 1;',
    'packages/adapter-memory/src/index.ts': "export * from '../../domain/src/index.ts';",
    'packages/adapter-sqlite/src/index.ts': "export * from '../../adapter-memory/src/index.ts';",
  };
  expect(violations(files)).toContain('not-in-allowed: packages/adapter-sqlite/src/index.ts');
  expect(violations(files).join()).not.toContain('not-in-allowed: packages/adapter-memory/');
});

test('the import rules keep the server of apps/http and its application apart', () => {
  const src = 'apps/http/src';
  const found = violations({
    [`${src}/app/errors.ts`]: 'export const errors = 1;',
    [`${src}/app/app.ts`]: "import 'node:http'; export * from '../server/server.ts';",
    [`${src}/app/net.ts`]: "import 'node:net';",
    [`${src}/server/server.ts`]: "export { errors } from '../app/errors.ts'; import 'node:http';",
    [`${src}/server/request.ts`]: "export * from '../app/net.ts';",
  });
  expect(found.filter((violation) => /-knows-no-/.test(violation)).sort()).toEqual([
    `application-knows-no-server: ${src}/app/app.ts`,
    `application-knows-no-server: ${src}/app/app.ts`,
    `application-knows-no-server: ${src}/app/net.ts`,
    `server-knows-no-application: ${src}/server/request.ts`,
  ]);
});
