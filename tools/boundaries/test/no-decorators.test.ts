import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Lints a file by the configuration of this repository, and returns the messages of errors. */
function lint(text: string): string[] {
  const root = mkdtempSync(join(tmpdir(), 'no-decorators-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'tools/boundaries'), { recursive: true });
  for (const file of ['biome.json', '.gitignore', 'tools/boundaries/no-decorators.grit']) {
    cpSync(join(ROOT, file), join(root, file));
  }
  writeFileSync(join(root, 'package.json'), '{}');
  writeFileSync(join(root, 'pet.ts'), text);
  const biome = join(ROOT, 'node_modules/.bin/biome');
  const { stdout } = spawnSync(biome, ['lint', '--reporter=json', 'pet.ts'], { cwd: root, encoding: 'utf8' });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { severity: string; message: string }[] };
  return diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

test.each([
  ['a class', '@sealed export class Pet {}'],
  ['a member', "export class Pet { @observed accessor name = ''; }"],
  ['a parameter', "export class Pet { constructor(@inject('name') name: string) { console.log(name); } }"],
])('the linter rejects a decorator of %s', (_, text) => {
  expect(lint(text)).toContainEqual(expect.stringContaining('cannot run decorators'));
});

test('the linter accepts a comment and a string that resemble a decorator', () => {
  expect(lint("/** @throws never: {@link Pet} */\nexport const pet = '@Pet()';\n")).toEqual([]);
});
