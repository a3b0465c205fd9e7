import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { beforeEach, describe, expect, test } from 'vitest';
import { commandLine, type Options } from './command-line.ts';
import { ended, freshFolder, run, start } from './processes.ts';

let folder: string;
beforeEach(() => {
  folder = freshFolder();
});

function fileOf(content: string | Buffer, name = 'pets.ndjson'): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

/** Imports contents into one catalogue, and lists the names of its pets. */
function importing(options?: Options) {
  const { runWith, run: print } = commandLine(options);
  return {
    imports: (content: string | Buffer, ...words: string[]) => runWith(content, 'pets', 'import', ...words),
    names: async () => (await print('pets', 'list')).map((text) => (JSON.parse(text) as { name: string }).name),
  };
}

const counts = (imported: number, alreadyImported: number, rejected: number) =>
  `{"imported":${imported},"alreadyImported":${alreadyImported},"rejected":${rejected}}\n`;

const line = (name: string, more = '') => `{"name":"${name}","categoryId":1${more}}\n`;

describe('pets import after an interruption', () => {
  const COUNT = 200_000;

  test('continues after SIGKILL and SIGINT when the command is repeated, without lost or duplicate pets', async () => {
    const names = Array.from({ length: COUNT }, (_, index) => `Rex ${index}`);
    const file = fileOf(`name,categoryId\n${names.map((name) => `${name},123456789\n`).join('')}`, 'pets.csv');
    const database = join(folder, 'animals.db');
    const environment = { SQLITE_FILE: database };

    let stored = 0;
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      const size = sizeOf(database) + 3_000_000;
      const child = start(environment, 'pets', 'import', file);
      const end = ended(child);
      while (sizeOf(database) + sizeOf(`${database}-wal`) < size) {
        expect(child.exitCode, 'it ended before the signal').toBeNull();
        await setTimeout(5);
      }
      child.kill(signal);
      const { code, out: printed, err } = await end;
      const { out } = await run(environment, 'pets', 'export');
      const count = out.split('\n').length - 1;
      expect(count).toBeGreaterThan(stored);
      expect(count).toBeLessThan(COUNT);
      if (signal === 'SIGINT') {
        const again = `pets imported so far: ${count}; to continue, repeat the command with the same input`;
        expect([code, err]).toEqual([130, `animal-store: interrupted by SIGINT; ${again}\n`]);
        expect(printed).toBe(counts(count - stored, stored, 0));
      }
      stored = count;
    }

    expect(await run(environment, 'pets', 'import', file)).toEqual({
      code: 0,
      out: counts(COUNT - stored, stored, 0),
      err: '',
    });
    const { out } = await run(environment, 'pets', 'export');
    const pets = out.trimEnd().split('\n');
    expect(pets).toEqual(names.map((name, index) => `{"id":${index + 1},"name":"${name}","categoryId":123456789}`));
  }, 180_000);

  const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);

  test('says that nothing was imported if it is interrupted while it checks', async () => {
    const { imports } = importing({ onStop: (stop) => stop('SIGTERM') });
    expect(await imports(line('Rex'))).toMatchObject({
      out: '',
      error: {
        exitCode: 143,
        message: 'interrupted by SIGTERM; pets imported so far: 0; to continue, repeat the command with the same input',
      },
    });
  });

  test('succeeds if it is interrupted after the last pet', async () => {
    let stop: (signal: NodeJS.Signals) => void = () => {};
    const { imports } = importing({
      onStop(given) {
        stop = given;
      },
      onAdd: () => stop('SIGINT'),
    });
    expect(await imports(line('Rex'))).toEqual({ out: counts(1, 0, 0), err: '', error: null });
    const { out, error } = await imports(line('Max') + line('Luna'));
    expect(out).toBe(counts(1, 0, 0));
    expect(error).toMatchObject({
      exitCode: 130,
      message: expect.stringMatching(/^interrupted by SIGINT; .* far: 1;/),
    });
  });

  test('says how many pets were imported if the storage fails', async () => {
    let adds = 0;
    const { imports } = importing({
      onAdd() {
        adds += 1;
        const cause = new StorageMisconfigured('');
        if (adds === 3) throw new DomainError('storage_unavailable', 'damaged', { cause });
      },
    });
    const file = line('Rex') + line('Max') + line('Luna');
    const { out, error } = await imports(file);
    expect(out).toBe(counts(2, 0, 0));
    expect(error?.message).toBe(
      'damaged; pets imported so far: 2; to continue, repeat the command with the same input',
    );
    expect((await imports(file)).out).toBe(counts(1, 2, 0));
  });
});

describe('pets import', () => {
  test('creates the pets of a pipe in their order, which an export writes to a pipe', async () => {
    const environment = { SQLITE_FILE: join(folder, 'animals.db') };
    const child = start(environment, 'pets', 'import', '--format', 'csv');
    child.stdin?.end('name;categoryId;status\r\n"Rex\r\nthe ""dog""";9223372036854775807;sold\r\n007;-1;\r\n');
    expect(await ended(child)).toEqual({ code: 0, out: counts(2, 0, 0), err: '' });
    expect(await run(environment, 'pets', 'export')).toEqual({
      code: 0,
      out:
        '{"id":1,"name":"Rex\\r\\nthe \\"dog\\"","categoryId":9223372036854775807,"status":"sold"}\n' +
        '{"id":2,"name":"007","categoryId":-1}\n',
      err: '',
    });
    const { out } = await run(environment, 'pets', 'export', '--format', 'csv', '--bom');
    expect(out).toBe(
      '\ufeffid,name,categoryId,status\r\n1,"Rex\r\nthe ""dog""",9223372036854775807,sold\r\n2,007,-1,\r\n',
    );
  });

  test('reports every line with an error, with its number and the reason, and creates nothing', async () => {
    const file = fileOf(`${line('Rex')}${line(' ')}nonsense\n\n${line(' ', ',"status":"lost"')}${line('Max')}`);
    const { code, out, err } = await run({ SQLITE_FILE: join(folder, 'animals.db') }, 'pets', 'import', file);
    expect([code, out]).toEqual([1, '']);
    expect(err.replaceAll(file, 'FILE').split('\n')).toEqual([
      'FILE:2: name must have a character that is not white space',
      `FILE:3: the record cannot be read as JSON: Unexpected token 'o', "nonsense" is not valid JSON`,
      'FILE:5: name must have a character that is not white space; status must be one of available, pending, sold, was "lost"',
      'animal-store: nothing was imported: correct the lines above, and repeat the command',
      '',
    ]);
    // Nothing was opened for it.
    expect(existsSync(join(folder, 'animals.db'))).toBe(false);
  });

  test('leaves records with errors out with --on-error skip, and names all of their lines', async () => {
    const { imports, names } = importing();
    const file = 'name,categoryId\n"Rex\nthe\ndog" Max,1\nMax,1\n" \n",1\n"Bella,1\nLuna,1\n';
    const { out, err, error } = await imports(file, '--format', 'csv', '--on-error', 'skip');
    expect(out).toBe(counts(1, 0, 3));
    expect(err.split('\n')).toEqual([
      'stdin:2-4: a field goes on after its closing quote',
      'stdin:6-7: name must have a character that is not white space',
      'stdin:8-9: a quote is not closed',
      '',
    ]);
    expect(error?.message).toMatch(/^the lines above were not imported: correct them in a file of their own/);
    expect(await names()).toEqual(['Max']);
  });

  test.each(['stop', 'skip'])('says where reading a file failed (--on-error %s)', async (mode) => {
    const { imports, names } = importing();
    const file = `name,categoryId\nRex,1\n"Max,1\n${'Bella,1\n'.repeat(50_000)}`;
    const { out, error } = await imports(file, '--format', 'csv', '--on-error', mode);
    const more =
      '; pets imported so far: 1; to continue, correct the rest in a file of its own, ' +
      'because a file with another content is another import';
    expect(error?.message).toMatch(/^stdin: line 3: the record does not end within 64 KiB, .*; the rest is not read/);
    expect(error?.message.endsWith(more)).toBe(mode === 'skip');
    expect([out, await names()]).toEqual(mode === 'skip' ? [counts(1, 0, 0), ['Rex']] : ['', []]);
  });

  test('ends its check after a hundred errors, and says so', async () => {
    const { err, error } = await importing().imports(`x\n${line(' ')}`.repeat(1_000));
    expect(err.split('\n')).toHaveLength(101);
    expect(error?.message).toBe(
      'nothing was imported, and the check ended here, after 100 errors: correct the lines above, and repeat the command',
    );
  });

  test('adds the pets of a content once, and the pets of a changed content', async () => {
    const { imports, names } = importing();
    const [first, copy] = [fileOf(line('Rex') + line('Rex')), fileOf(line('Rex') + line('Rex'), 'copy.ndjson')];
    expect((await imports('', first)).out).toBe(counts(2, 0, 0));
    const { out, err } = await imports('', copy);
    expect(out).toBe(counts(0, 2, 0));
    expect(err).toMatch(/^animal-store: every pet of the input had been imported before, .* --import-id\n$/);
    await imports(line('Max'));
    expect(await names()).toEqual(['Rex', 'Rex', 'Max']);
  });

  test('adds one pet for each line number under an --import-id, although lines were appended', async () => {
    const { imports, names } = importing();
    const words = ['--import-id', 'arrivals', '--on-error', 'skip'];
    await imports(line('Rex'), ...words);
    await imports(line('Rex') + line('Max'), ...words);
    expect(await names()).toEqual(['Rex', 'Max']);
    const { err, error } = await imports(line('Bella') + line('Max') + line('Luna'), ...words);
    expect(err).toBe('stdin:1: another pet was imported under this --import-id and line number\n');
    expect(error?.message).toBe(
      'the lines above were not imported: correct them, and repeat the command with the same --import-id',
    );
    expect(await names()).toEqual(['Rex', 'Max', 'Luna']);
  });

  test('stops at the first line that was another pet under the same --import-id', async () => {
    const { imports } = importing();
    const words = ['--import-id', 'arrivals'];
    await imports(line('Rex') + line('Max'), ...words);
    const { out, err, error } = await imports(line('Bella') + line('Luna') + line('Leo'), ...words);
    expect(out).toBe(counts(0, 0, 1));
    expect(err).toBe('stdin:1: another pet was imported under this --import-id and line number\n');
    expect(error?.message).toBe(
      'stopped; pets imported so far: 0; to continue, correct the line above and repeat the command',
    );
  });

  test.each([
    [['no-such-file.csv'], /^no-such-file\.csv: no such file or directory$/],
    [['/'], /^\/: illegal operation on a directory$/],
    [['--format', 'csv'], /^stdin: the first line must name the columns name and categoryId, was "nonsense"$/],
    [['--import-id', ''], /argument '' is invalid\. It must be 1 to 100 visible ASCII characters\.$/],
  ])('reports why it cannot begin: %j', async (words, message) => {
    const { out, error } = await importing().imports('nonsense', ...words);
    expect(out).toBe('');
    expect(error?.message).toMatch(message);
  });

  test('explains on a terminal the expected input and its end', async () => {
    const { imports } = importing({ isTTY: true });
    expect((await imports(line('Rex'))).err).toMatch(
      /^animal-store: reading ndjson from the terminal, as in \{"name".* Ctrl-D .* Ctrl-C cancels\.\n/,
    );
    expect((await imports('', fileOf(line('Rex')))).err).not.toContain('Ctrl-D');
  });

  test('says that a pipe needs a temporary file', async () => {
    const child = start({ TMPDIR: join(folder, 'nowhere'), SQLITE_FILE: join(folder, 'pets.db') }, 'pets', 'import');
    child.stdin?.end(line('Rex'));
    const { code, err } = await ended(child);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^animal-store: the input can't be copied to a temporary file: no such file or directory; set TMPDIR\n$/,
    );
  });

  test('leaves no temporary file behind if it is killed while it reads a pipe', async () => {
    const child = start({ TMPDIR: folder, SQLITE_FILE: '/nowhere/animals.db' }, 'pets', 'import');
    // More than the pipe holds.
    await new Promise((resolve) => child.stdin?.write('x'.repeat(1_000_000), resolve));
    child.kill('SIGKILL');
    await ended(child);
    expect(readdirSync(folder)).toEqual([]);
  });
});
