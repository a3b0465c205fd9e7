import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freshFolder, PROGRAM, run } from './processes.ts';

/** A folder with the program under its name, and a file. */
function folderWithProgram(): string {
  const folder = freshFolder();
  const program = [process.execPath, ...PROGRAM].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(folder, 'animal-store'), `#!/bin/sh\nexec ${program} "$@"\n`);
  chmodSync(join(folder, 'animal-store'), 0o700);
  writeFileSync(join(folder, 'pets.csv'), 'nonsense');
  return folder;
}

/** Runs a script in a folder, with the program in the path under its name. */
function runShell(shell: string[], script: string, folder = folderWithProgram()): string {
  const [command = '', ...words] = shell;
  return execFileSync(command, [...words, script], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder },
    encoding: 'utf8',
  });
}

describe('the completion script for bash', () => {
  /** Prints what bash completes the last word to. */
  const complete = (words: string[], folder = folderWithProgram()) => {
    const quoted = ['animal-store', ...words].map((word) => `'${word}'`).join(' ');
    return runShell(
      ['bash', '--norc', '-euc'],
      `source <(animal-store completion bash)
      COMP_WORDS=(${quoted})
      COMP_CWORD=${words.length}
      _animal_store
      printf '%s\\n' "\${COMPREPLY[@]-}"`,
      folder,
    );
  };

  test('prints a script that bash can parse', async () => {
    const { code, out } = await run({}, 'completion', 'bash');
    expect(code).toBe(0);
    expect(spawnSync('bash', ['-n'], { input: out, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    expect(out).toContain('complete -o default -F _animal_store animal-store\n');
  });

  test.each([
    [['pe'], 'pets\n'],
    [['pets', 'cr'], 'create\n'],
    [['pets', 'list', '--status', 'p'], 'pending\n'],
    [['pets', 'import', ''], '\n'],
  ])('completes %j', (words, expected) => {
    expect(complete(words)).toBe(expected);
  });

  test('does not evaluate what was typed', () => {
    const folder = folderWithProgram();
    expect(complete(['pets', '$(touch evaluated)', '--na`touch evaluated`'], folder)).toBe('\n');
    expect(existsSync(join(folder, 'evaluated'))).toBe(false);
  });
});

const missing = ['zsh', 'fish', 'script'].filter((name) => spawnSync(name, ['--version']).error !== undefined);
if (missing.length > 0) {
  const reason = `NOT RUN: the tests of completion in zsh and fish, because ${missing.join(', ')} is not installed`;
  if (process.env['ALL_TESTS'] === 'required') throw new Error(reason);
  process.stderr.write(`\n${reason}.\nWith ALL_TESTS=required this is a failure.\n`);
}

describe.skipIf(missing.length > 0)('the completion script for fish', () => {
  test.each([
    ['animal-store pe', 'pets\tThe pets of the catalogue.\n'],
    ['animal-store pets import pe', 'pets.csv\n'],
    ['animal-store pets list --status pe', 'pending\n'],
  ])('completes %s', (line, expected) => {
    const script = `animal-store completion fish | source; complete --do-complete '${line}'`;
    expect(runShell(['fish', '--no-config', '-c'], script)).toBe(expected);
  });
});

describe.skipIf(missing.length > 0)('the completion script for zsh', () => {
  test.each([
    ['animal-store pe\tli\t--hel\t', /Usage: animal-store pets list /],
    ['animal-store pets import pe\t', /pets\.csv: the first line must name the columns/],
  ])('completes %j, as it is typed', async (typed, output) => {
    const folder = folderWithProgram();
    const terminal = spawn('script', ['--quiet', '--flush', '--command', 'zsh -f -i', '/dev/null'], {
      cwd: folder,
      env: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, TERM: 'dumb' },
    });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    let text = '';
    terminal.stdout.on('data', (chunk) => {
      text += chunk;
    });
    terminal.stdin.write("autoload -U compinit; compinit -u; source <(animal-store completion zsh); echo rea''dy\n");
    await expect.poll(() => text).toMatch(/^ready/m);
    terminal.stdin.write(`${typed}\n`);
    await expect.poll(() => text).toMatch(output);
  });
});
