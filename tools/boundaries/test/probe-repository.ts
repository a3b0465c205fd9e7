import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Files } from './probes.ts';

/**
 * Writes a repository with these files to a temporary folder, installed as pnpm does it: packages are links, those of
 * npm to a place of their own below node_modules/.pnpm.
 *
 * @returns The folder.
 */
export function writeRepository(files: Files, npmPackages: readonly string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'boundary-probes-')));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const link = (name: string, target: string) => {
    const path = join(root, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, target), path);
  };

  write('package.json', '{}');
  for (const [path, text] of Object.entries(files)) {
    write(path, text);
    if (path.endsWith('/package.json')) link(JSON.parse(text).name, dirname(path));
  }
  for (const name of npmPackages) {
    const folder = `node_modules/.pnpm/${name.replace('/', '+')}@1.0.0/node_modules/${name}`;
    write(`${folder}/package.json`, JSON.stringify({ name, version: '1.0.0', exports: './dist/index.js' }));
    write(`${folder}/dist/index.js`, '');
    link(name, folder);
  }
  return root;
}
