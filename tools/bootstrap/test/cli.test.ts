import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

test('npm run cli resolves relative paths from the folder in which npm was called', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-bootstrap-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { stdout } = await promisify(execFile)(
    'npm',
    [
      ...['--prefix', ROOT, 'run', '--silent', 'cli', '--'],
      ...['pets', 'create', '--name', 'Rex', '--category-id', '1'],
    ],
    { cwd: folder, env: { PATH: process.env['PATH'], HOME: process.env['HOME'], SQLITE_FILE: 'animals.db' } },
  );
  expect(stdout).toBe('{"id":1,"name":"Rex","categoryId":1}\n');
  expect(existsSync(join(folder, 'animals.db'))).toBe(true);
}, 20_000);
