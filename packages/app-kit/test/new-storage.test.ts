import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NAME = '@animal-store/adapter-throwaway';

/** A copy of the repository. */
let copy: string;

const write = (path: string, text: string) => {
  mkdirSync(join(copy, path, '..'), { recursive: true });
  writeFileSync(join(copy, path), text);
};

/** As pnpm installs a package of the workspace. */
const link = (folder: string, name: string) => {
  const path = join(copy, folder, 'node_modules/@animal-store', name);
  mkdirSync(join(path, '..'), { recursive: true });
  symlinkSync(join(copy, 'packages', name), path);
};

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'animal-store-new-storage-'));
  for (const folder of ['packages', 'apps', 'docs']) {
    const filter = (path: string) => !/\/(?:dist|test|coverage)$/.test(path);
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true, filter });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  cpSync(join(ROOT, '.dependency-cruiser.mjs'), join(copy, '.dependency-cruiser.mjs'));

  // The package: a copy of adapter-memory with a setting.
  for (const module of ['memory-storage', 'memory-pet-store', 'memory-key-store']) {
    const text = readFileSync(join(copy, `packages/adapter-memory/src/${module}.ts`), 'utf8');
    write(`packages/adapter-throwaway/src/${module}.ts`, text);
  }
  const dependency = { '@animal-store/domain': 'workspace:^' };
  const manifest = { name: NAME, type: 'module', exports: './src/index.ts', peerDependencies: dependency };
  write('packages/adapter-throwaway/package.json', JSON.stringify(manifest));
  write(
    'packages/adapter-throwaway/src/index.ts',
    `import { type StorageAdapter, StorageMisconfigured } from '@animal-store/domain/ports';
    import { createMemory, openMemory } from './memory-storage.ts';

    export const adapter: StorageAdapter = {
      portsVersion: 1,
      description: 'memory until the end of this test',
      variable: { name: 'THROWAWAY_PLACE', example: 'here', secret: true },
      open(place) {
        if (place === 'nowhere') throw new StorageMisconfigured('there is no such place');
        return { ...openMemory(createMemory()), location: place };
      },
    };`,
  );
  link('packages/adapter-throwaway', 'domain');
  const kit = JSON.parse(readFileSync(join(copy, 'packages/app-kit/package.json'), 'utf8'));
  kit.dependencies[NAME] = 'workspace:*';
  write('packages/app-kit/package.json', JSON.stringify(kit));
  link('packages/app-kit', 'adapter-throwaway');

  // The two lines.
  const storages = 'packages/app-kit/src/storages.ts';
  const text = readFileSync(join(copy, storages), 'utf8');
  expect(text).toContain('export const STORAGES = { ');
  const line = `import { adapter as throwaway } from '${NAME}';\n`;
  write(storages, line + text.replace('export const STORAGES = { ', '$&throwaway, '));
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

const PATH = process.env['PATH'] as string;

/** The output of an application up to a pattern; the application ends with the test. */
function startUntil(pattern: RegExp, main: string, environment: Record<string, string>): Promise<RegExpExecArray> {
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', main], {
    cwd: copy,
    env: { PATH, ...environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
      const match = pattern.exec(output);
      if (match !== null) resolve(match);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('close', (code) => reject(new Error(`it ended with ${code}:\n${output}`)));
  });
}

/** Runs the command line to its end. */
const command = (environment: Record<string, string>, ...words: string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=@animal-store/source', 'apps/cli/src/main.ts', ...words], {
    cwd: copy,
    env: { PATH, ...environment },
  });

describe('a storage added as one package and two lines', () => {
  test.each([
    { THROWAWAY_PLACE: 'here' },
    { THROWAWAY_PLACE: 'here', STORAGE: 'throwaway', SQLITE_FILE: 'x' },
    { THROWAWAY_PLACE_FILE: 'packages/app-kit/package.json' },
  ])('is served over HTTP with %o', async (environment) => {
    const greeting = /listens at (\S+).*this run: +(\S+)\n {2}Storage: +memory until the end of this test\n/s;
    const [, url, key] = await startUntil(greeting, 'apps/http/src/main.ts', { PORT: '0', ...environment });
    const response = await fetch(`${url}/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    });
    expect([response.status, await response.json()]).toEqual([201, { id: 1, name: 'Rex', categoryId: 1 }]);
  });

  test('is logged with its name and its location', async () => {
    const environment = { PORT: '0', API_KEYS: 'k'.repeat(16), NODE_ENV: 'production', THROWAWAY_PLACE: 'here' };
    const [line] = await startUntil(/\{.*"listening".*\}\n/, 'apps/http/src/main.ts', environment);
    expect(JSON.parse(line)).toMatchObject({ storage: 'throwaway' });
  });

  test('reports its configuration errors under the name of its variable', async () => {
    await expect(startUntil(/never/, 'apps/http/src/main.ts', { THROWAWAY_PLACE: 'nowhere' })).rejects.toThrow(
      /ended with 2:\nanimal-store: THROWAWAY_PLACE: there is no such place\n/,
    );
    await expect(startUntil(/never/, 'apps/http/src/main.ts', { STORAGE: 'throwaway' })).rejects.toThrow(
      /ended with 2:\nanimal-store: THROWAWAY_PLACE must be set if STORAGE is throwaway, as in here\n/,
    );
  });

  test('is used on the command line', async () => {
    const { stdout } = await command({ THROWAWAY_PLACE: 'here' }, 'keys', 'issue', '--holder', 'the zoo');
    expect(JSON.parse(stdout)).toMatchObject({ holder: 'the zoo' });
    await expect(command({}, 'pets', 'list')).rejects.toThrow(/set THROWAWAY_PLACE, MONGODB_URL/);
  });

  test('is checked by the import rules of adapters', async () => {
    write('packages/adapter-throwaway/src/probe.ts', "import '@animal-store/adapter-memory';\n");
    write('packages/adapter-throwaway/src/probe-transport.ts', "import '@animal-store/domain/transport';\n");
    link('packages/adapter-throwaway', 'adapter-memory');
    // The exit code is the number of violations.
    const command =
      'node_modules/.bin/depcruise --output-type json packages/adapter-throwaway packages/app-kit/src/storages.ts || true';
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { cwd: copy, maxBuffer: 2 ** 26 });
    const { violations } = JSON.parse(stdout).summary as { violations: { rule: { name: string }; from: string }[] };
    expect(violations.map(({ rule, from }) => [rule.name, from]).sort()).toEqual([
      ['not-in-allowed', 'packages/adapter-throwaway/src/probe-transport.ts'],
      ['not-in-allowed', 'packages/adapter-throwaway/src/probe.ts'],
    ]);
  });
});
