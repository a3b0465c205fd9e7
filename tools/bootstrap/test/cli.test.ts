import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Calls `npm run cli` from a new folder. */
async function create(env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-bootstrap-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { stdout, stderr } = await promisify(execFile)(
    'npm',
    [
      ...['--prefix', ROOT, 'run', '--silent', 'cli', '--'],
      ...['pets', 'create', '--name', 'Rex', '--category-id', '1'],
    ],
    { cwd: folder, env: { PATH: process.env['PATH'], HOME: process.env['HOME'], SQLITE_FILE: 'animals.db', ...env } },
  );
  return { stdout, stderr, files: readdirSync(folder) };
}

describe('npm run cli', () => {
  test('resolves relative paths from the folder in which npm was called', async () => {
    const { stdout, files } = await create();
    expect(stdout).toBe('{"id":1,"name":"Rex","categoryId":1}\n');
    expect(files).toContain('animals.db');
  });

  test("keeps Node's compiled code for the next start", async () => {
    // Each process of Node.js prints the folder, the service too.
    const say = 'import * as m from "node:module"; console.error(m.getCompileCacheDir?.());';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(say)}` };
    expect((await create(env)).stderr).toContain(join(ROOT, 'node_modules/.cache/node'));
    const chosen = mkdtempSync(join(tmpdir(), 'animal-store-compiled-'));
    onTestFinished(() => rmSync(chosen, { recursive: true }));
    const { stderr } = await create({ ...env, NODE_COMPILE_CACHE: chosen });
    expect(stderr).toContain(chosen);
    expect(stderr).not.toContain(join(ROOT, 'node_modules/.cache/node'));
  });
});
