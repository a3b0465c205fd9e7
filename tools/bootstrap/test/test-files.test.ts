import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Listed {
  readonly file: string;
  readonly projectName: string;
}

/** The test files that `vitest` runs in a repository, each with its project. */
async function listTestFiles(root: string): Promise<Listed[]> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'list', '--filesOnly', '--json'], {
    cwd: root,
    env: { ...process.env, ALL_TESTS: 'on' },
  });
  return JSON.parse(stdout).map(({ file, projectName }: Listed) => ({
    file: file.slice(root.length + 1),
    projectName,
  }));
}

/** The files that look like tests, but belong to no Vitest project. */
async function findForgottenTests(root: string): Promise<string[]> {
  const listed = new Set((await listTestFiles(root)).map(({ file }) => file));
  return globSync(['**/*.{test,spec}.{ts,tsx,mts,cts,js,jsx,mjs,cjs}', '**/__tests__/**/*.*'], {
    cwd: root,
    exclude: ['**/node_modules', '**/dist', '.git'],
  }).filter((file) => !listed.has(file));
}

/** Writes a repository with the Vitest configuration of this one. */
function writeRepository(files: Record<string, string>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'test-files-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  cpSync(join(ROOT, 'vitest.config.ts'), join(root, 'vitest.config.ts'));
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

describe('the test run', () => {
  test('includes every test file of this repository', async () => {
    expect(await findForgottenTests(ROOT.replace(/\/$/, ''))).toEqual([]);
  });

  test('includes the tests of a new workspace once for each project that it declares, and shows which are forgotten', async () => {
    const forgotten = [
      'packages/next/checks/a.test.ts',
      'packages/next/src/a.spec.ts',
      'packages/no-workspace/test/a.test.ts',
      'scripts/a.test.mjs',
    ];
    const root = writeRepository({
      'packages/next/package.json': '{}',
      'packages/next/src/a.test.ts': '',
      'packages/next/test/b.test.ts': '',
      'apps/next/package.json': '{}',
      'apps/next/vitest.projects.ts': "export default [{}, { name: 'again' }];",
      'apps/next/test/a.test.ts': '',
      ...Object.fromEntries(forgotten.map((file) => [file, ''])),
    });
    expect(await listTestFiles(root)).toEqual([
      { file: 'apps/next/test/a.test.ts', projectName: 'apps/next' },
      { file: 'apps/next/test/a.test.ts', projectName: 'apps/next again' },
      { file: 'packages/next/src/a.test.ts', projectName: 'packages/next' },
      { file: 'packages/next/test/b.test.ts', projectName: 'packages/next' },
    ]);
    expect((await findForgottenTests(root)).sort()).toEqual(forgotten);
  });
});
