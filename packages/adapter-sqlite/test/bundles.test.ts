import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { freshFile } from './fixtures.ts';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/**
 * Creates a pet in a process with changed modules, and returns the name and message of its error, and whether a file `silent`
 * exists when the storage is open. The process must end.
 */
async function failureWith(change: (folder: string) => void): Promise<object> {
  const folder = join(dirname(freshFile()), 'program');
  mkdirSync(folder);
  symlinkSync(join(PACKAGE, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(PACKAGE, 'src'), join(folder, 'src'), { recursive: true });
  change(join(folder, 'src'));
  const program = `
    import { existsSync } from 'node:fs';
    import { createSqliteStorage } from './src/index.ts';
    const storage = await createSqliteStorage({ file: 'animals.db' }).catch((error) => error);
    const silent = existsSync('silent') || undefined;
    const add = () => storage.pets.add({ name: 'Rex', categoryId: 1n }).catch((error) => error);
    let error = storage.pets === undefined ? storage : await add();
    // On a busy machine the thread starts more slowly than a call may take.
    while (error.name === 'DomainError' && !silent) error = await add();
    console.log(JSON.stringify({ name: error.name, message: error.message, silent }));
    await storage.close?.();`;
  const node = ['--conditions=@animal-store/source', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: folder, timeout: 60_000 });
  return JSON.parse(stdout);
}

test.each<[string, (src: string) => void]>([
  ['has no module of the writer', (src) => rmSync(join(src, 'writer.ts'))],
  [
    'is of CommonJS, in which modules have no URL',
    (src) => {
      const module = join(src, 'thread.ts');
      writeFileSync(module, readFileSync(module, 'utf8').replaceAll('import.meta', '({} as ImportMeta)'));
    },
  ],
])('says at the opening that a bundle %s', async (_, change) => {
  expect(await failureWith(change)).toEqual({
    name: 'StorageMisconfigured',
    message: "the writer's module is missing: keep @animal-store/adapter-sqlite out of bundles",
  });
});

test('throws an error of the program in the thread unchanged, and not as an outage', async () => {
  const failure = await failureWith((src) => writeFileSync(join(src, 'writer.ts'), "throw new TypeError('a defect');"));
  expect(failure).toEqual({ name: 'TypeError', message: 'a defect' });
});

// As a disk that hangs does while the thread reads its modules.
test('opens although its thread does not reply', async () => {
  const outcome = await failureWith((src) => {
    // The thread ends later than the wait for it.
    const program = `import { rmSync, writeFileSync } from 'node:fs';
      writeFileSync('silent', '');
      setTimeout(() => { rmSync('silent'); process.exit(); }, 14_000);`;
    writeFileSync(join(src, 'writer.ts'), program);
  });
  expect(outcome).toMatchObject({ name: 'DomainError', silent: true });
});

test('writes in a new thread after an error has ended one, and lets the process end', async () => {
  const outcome = await failureWith((src) => {
    const failOnce = `import { mkdirSync } from 'node:fs';
      const isFirst = mkdirSync('failed', { recursive: true }) !== undefined;
      if (isFirst) throw new TypeError('a defect');`;
    const module = join(src, 'writer.ts');
    writeFileSync(module, failOnce + readFileSync(module, 'utf8'));
  });
  expect(outcome).toEqual({});
});
