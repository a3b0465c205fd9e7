import { existsSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { beforeEach, describe, expect, test } from 'vitest';
import { commandLine } from './command-line.ts';
import { ended, freshFolder, run, start } from './processes.ts';

let folder: string;
beforeEach(() => {
  folder = freshFolder();
});

function fileOf(content: string | Buffer, name = 'pets.ndjson'): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const line = (name: string, more = '') => `{"name":"${name}","categoryId":1${more}}\n`;

describe('pets import after an interruption', () => {
  const COUNT = 200_000;

  test('continues after SIGKILL and SIGINT when the command is repeated, without lost or duplicate pets', async () => {
    const file = join(folder, 'pets.csv');
    const descriptor = openSync(file, 'w');
    const names = Array.from({ length: COUNT }, (_, index) => `Rex ${index}`);
    writeSync(descriptor, 'name,categoryId\n');
    for (let at = 0; at < COUNT; at += 1_000) {
      const lines = names.slice(at, at + 1_000).map((name) => `${name},123456789\n`);
      writeSync(descriptor, lines.join(''));
    }
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
        expect(JSON.parse(printed)).toEqual({ imported: count - stored, alreadyImported: stored, rejected: 0 });
      }
      stored = count;
    }

    expect(await run(environment, 'pets', 'import', file)).toEqual({
      code: 0,
      out: `{"imported":${COUNT - stored},"alreadyImported":${stored},"rejected":0}\n`,
      err: '',
    });
    const { out } = await run(environment, 'pets', 'export');
    const pets = out
      .split('\n')
      .slice(0, -1)
      .map((text) => JSON.parse(text) as { id: number; name: string; categoryId: number });
    expect(pets.map(({ name }) => name)).toEqual(names);
    expect(new Set(pets.map(({ id }) => id)).size).toBe(COUNT);
    expect(new Set(pets.map(({ categoryId }) => categoryId))).toEqual(new Set([123456789]));
  }, 180_000);

  test('says that nothing was imported if it is interrupted while it checks', async () => {
    const { out, error } = await commandLine({ onStop: (stop) => stop('SIGTERM') }).runWith(
      line('Rex'),
      'pets',
      'import',
    );
    expect(out).toBe('');
    expect(error).toMatchObject({
      exitCode: 143,
      message: 'interrupted by SIGTERM; pets imported so far: 0; to continue, repeat the command with the same input',
    });
  });

  test('succeeds if it is interrupted after the last pet', async () => {
    let stop: (signal: NodeJS.Signals) => void = () => {};
    const { runWith } = commandLine({
      onStop(given) {
        stop = given;
      },
      onAdd: () => stop('SIGINT'),
    });
    expect(await runWith(line('Rex'), 'pets', 'import')).toEqual({
      out: '{"imported":1,"alreadyImported":0,"rejected":0}\n',
      err: '',
      error: null,
    });
    const { out, error } = await runWith(line('Max') + line('Luna'), 'pets', 'import');
    expect(out).toBe('{"imported":1,"alreadyImported":0,"rejected":0}\n');
    expect(error).toMatchObject({
      exitCode: 130,
      message: expect.stringMatching(/^interrupted by SIGINT; .* far: 1;/),
    });
  });

  test('says how many pets are in if the storage fails', async () => {
    let adds = 0;
    const { runWith } = commandLine({
      onAdd() {
        adds += 1;
        if (adds === 3)
          throw new DomainError('storage_unavailable', 'damaged', { cause: new StorageMisconfigured('') });
      },
    });
    const file = line('Rex') + line('Max') + line('Luna');
    const { out, error } = await runWith(file, 'pets', 'import');
    expect(out).toBe('{"imported":2,"alreadyImported":0,"rejected":0}\n');
    expect(error?.message).toBe(
      'damaged; pets imported so far: 2; to continue, repeat the command with the same input',
    );
    expect((await runWith(file, 'pets', 'import')).out).toBe('{"imported":1,"alreadyImported":2,"rejected":0}\n');
  });

  const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);
});

describe('pets import', () => {
  test('creates the pets of a pipe in their order, which an export writes to a pipe', async () => {
    const environment = { SQLITE_FILE: join(folder, 'animals.db') };
    const child = start(environment, 'pets', 'import', '--format', 'csv');
    child.stdin?.end('name;categoryId;status\r\n"Rex\r\nthe ""dog""";9223372036854775807;sold\r\n007;-1;\r\n');
    expect(await ended(child)).toEqual({ code: 0, out: '{"imported":2,"alreadyImported":0,"rejected":0}\n', err: '' });
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
    const file = fileOf(`${line('Rex')}nonsense\n\n${line(' ', ',"status":"lost"')}${line('Max')}`);
    const { code, out, err } = await run({ SQLITE_FILE: join(folder, 'animals.db') }, 'pets', 'import', file);
    expect([code, out]).toEqual([1, '']);
    const reasons = err.replaceAll(file, 'FILE').split('\n');
    expect(reasons).toEqual([
      'FILE:2: the record is not valid JSON at column 1: expected a value, was "nonsense"',
      'FILE:4: name must have a character that is not white space; status must be one of available, pending, sold, was "lost"',
      'animal-store: nothing was imported: correct the lines above, and repeat the command',
      '',
    ]);
    // Nothing was opened for it.
    expect(existsSync(join(folder, 'animals.db'))).toBe(false);
  });

  test('leaves lines with errors out with --on-error skip', async () => {
    const { runWith, run: print } = commandLine();
    const file = Buffer.concat([
      Buffer.from(line('Rex')),
      Buffer.from('{"name":"Jos\xe9"}\n', 'latin1'),
      Buffer.from(line('Max')),
    ]);
    const { out, err, error } = await runWith(file, 'pets', 'import', '--on-error', 'skip');
    expect(out).toBe('{"imported":2,"alreadyImported":0,"rejected":1}\n');
    expect(err).toBe('stdin:2: not UTF-8\n');
    expect(error?.message).toMatch(/^the lines above were not imported: correct them in a file of their own/);
    expect(await print('pets', 'list')).toEqual([
      '{"id":1,"name":"Rex","categoryId":1}',
      '{"id":2,"name":"Max","categoryId":1}',
    ]);
  });

  test('names all lines of a record that it leaves out', async () => {
    const { runWith } = commandLine();
    const file = 'name,categoryId\n"Rex\nthe\ndog" Max,1\nMax,1\n" \n",1\n"Bella,1\nLuna,1\n';
    const words = ['pets', 'import', '--format', 'csv', '--on-error', 'skip'];
    const { out, err } = await runWith(file, ...words);
    expect(out).toBe('{"imported":1,"alreadyImported":0,"rejected":3}\n');
    expect(err.split('\n')).toEqual([
      'stdin:2-4: a field goes on after its closing quote',
      'stdin:6-7: name must have a character that is not white space',
      'stdin:8-9: a quote is not closed',
      '',
    ]);
  });

  test.each(['stop', 'skip'])(
    'creates no pet of lines in quotes that are open too long (--on-error %s)',
    async (mode) => {
      const { runWith, run: print } = commandLine();
      const file = `name,categoryId\nRex,1\n"Max,1\n${'Bella,1\n'.repeat(50_000)}`;
      const { out, error } = await runWith(file, 'pets', 'import', '--format', 'csv', '--on-error', mode);
      const reason =
        'stdin: line 3: the record does not end within 64 KiB, perhaps because a quote is not closed; the rest is not read';
      if (mode === 'stop') expect([out, error?.message]).toEqual(['', reason]);
      else {
        expect(out).toBe('{"imported":1,"alreadyImported":0,"rejected":0}\n');
        expect(error?.message).toBe(
          `${reason}; pets imported so far: 1; to continue, correct the rest in a file of its own, ` +
            'because a file with another content is another import',
        );
      }
      expect(await print('pets', 'list')).toHaveLength(mode === 'skip' ? 1 : 0);
    },
  );

  test.each([
    [Buffer.from('name,categoryId,Gr\xf6\xdfe\nname,categoryId,x\nRex,1,2\n', 'latin1'), 'not UTF-8'],
    [`"name,categoryId\nRex,1\n`, 'a quote is not closed'],
  ])('rejects a CSV file whose first line cannot be read', async (file, reason) => {
    const { runWith, run: print } = commandLine();
    const { error } = await runWith(file, 'pets', 'import', '--format', 'csv', '--on-error', 'skip');
    expect(error?.message).toBe(`stdin: the first line can't be read: ${reason}`);
    expect(await print('pets', 'list')).toEqual([]);
  });

  test('ends its check after a hundred errors, and says so', async () => {
    const { err, error } = await commandLine().runWith('x\n'.repeat(1_000), 'pets', 'import');
    expect(err.split('\n')).toHaveLength(101);
    expect(error?.message).toBe(
      'nothing was imported, and the check ended here, after 100 errors: correct the lines above, and repeat the command',
    );
  });

  test('adds the pets of the same content once, and those of another content', async () => {
    const { run: print, runWith } = commandLine();
    const [first, copy] = [fileOf(line('Rex') + line('Rex')), fileOf(line('Rex') + line('Rex'), 'copy.ndjson')];
    expect(await print('pets', 'import', first)).toEqual(['{"imported":2,"alreadyImported":0,"rejected":0}']);
    const { out, err } = await runWith('', 'pets', 'import', copy);
    expect(out).toBe('{"imported":0,"alreadyImported":2,"rejected":0}\n');
    expect(err).toMatch(/^animal-store: every pet of the input had been imported before, .* --import-id\n$/);
    expect(await print('pets', 'list')).toHaveLength(2);
    await print('pets', 'import', fileOf(line('Rex')));
    expect(await print('pets', 'list')).toHaveLength(3);
  });

  test('adds one pet for each line number under an --import-id, whatever was appended', async () => {
    const { run: print, runWith } = commandLine();
    const words = ['pets', 'import', '--import-id', 'arrivals', '--on-error', 'skip'];
    await runWith(line('Rex'), ...words);
    await runWith(line('Rex') + line('Max'), ...words);
    expect(await print('pets', 'list')).toHaveLength(2);
    const { err, error } = await runWith(line('Bella') + line('Max') + line('Luna'), ...words);
    expect(err).toBe('stdin:1: another pet was imported under this --import-id and line number\n');
    expect(error?.message).toBe(
      'the lines above were not imported: correct them, and repeat the command with the same --import-id',
    );
    expect(await print('pets', 'list')).toHaveLength(3);
  });

  test('stops at the first line that was another pet under the same --import-id', async () => {
    const { run: print, runWith } = commandLine();
    const words = ['pets', 'import', '--import-id', 'arrivals'];
    await runWith(line('Rex') + line('Max'), ...words);
    const { out, err, error } = await runWith(line('Bella') + line('Luna') + line('Leo'), ...words);
    expect(out).toBe('{"imported":1,"alreadyImported":0,"rejected":1}\n');
    expect(err).toBe('stdin:1: another pet was imported under this --import-id and line number\n');
    expect(error?.message).toBe(
      'stopped; pets imported so far: 1; to continue, correct the line above and repeat the command',
    );
    expect(await print('pets', 'list')).toHaveLength(3);
  });

  test.each([
    [['no-such-file.csv'], /^no-such-file\.csv: no such file or directory$/],
    [['/'], /^\/: illegal operation on a directory$/],
    [['--format', 'csv'], /^stdin: the first line must name the columns name and categoryId, was "nonsense"$/],
    [['--import-id', ''], /argument '' is invalid\. It must be 1 to 100 visible ASCII characters\.$/],
  ])('reports why it cannot begin: %j', async (words, message) => {
    const { out, error } = await commandLine().runWith('nonsense', 'pets', 'import', ...words);
    expect(out).toBe('');
    expect(error?.message).toMatch(message);
  });

  test.each([
    ['ndjson', 'name,categoryId\nRex,1\n', 'it is CSV: add --format csv'],
    ['ndjson', '\ufeffid;name;categoryId\r\n1;Rex;1\r\n', 'it is CSV: add --format csv'],
    ['ndjson', `[${line('Rex').trim()},\n${line('Max')}]`, "jq -c '.[]' FILE | animal-store pets import"],
    ['csv', `[\n${line('Rex')}]`, "jq -c '.[]' FILE | animal-store pets import"],
    ['ndjson', JSON.stringify(Array.from({ length: 5_000 }, () => ({ name: 'Rex', categoryId: 1 }))), "jq -c '.[]'"],
    ['ndjson', JSON.stringify({ name: 'Rex', categoryId: 1 }, null, 2), 'jq -c . FILE | animal-store pets import'],
    ['csv', line('Rex'), 'it is JSON: add --format ndjson'],
    ['ndjson', gzipSync(line('Rex')), 'gunzip -c FILE | animal-store pets import'],
    ['csv', Buffer.from('PK\u0003\u0004'), 'save the sheet as CSV in UTF-8'],
  ])('says what to do with a file of another kind, given as %s', async (format, file, hint) => {
    const { runWith, run: print } = commandLine();
    for (const mode of ['stop', 'skip']) {
      const { out, err, error } = await runWith(file, 'pets', 'import', '--format', format, '--on-error', mode);
      expect([out, err]).toEqual(['', '']);
      expect(error?.message).toMatch(/^stdin: it/);
      expect(error?.message).toContain(hint);
    }
    expect(await print('pets', 'list')).toEqual([]);
  });

  test('says on a terminal what it waits for and how to end it', async () => {
    const { err } = await commandLine({ isTTY: true }).runWith(line('Rex'), 'pets', 'import');
    expect(err).toMatch(
      /^animal-store: reading ndjson from the terminal, as in \{"name".* Ctrl-D .* Ctrl-C cancels\.\n/,
    );
    const { err: silent } = await commandLine({ isTTY: true }).runWith('', 'pets', 'import', fileOf(line('Rex')));
    expect(silent).not.toContain('Ctrl-D');
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

  test('accepts an empty file', async () => {
    const { run: print } = commandLine();
    expect(await print('pets', 'import', fileOf(''))).toEqual(['{"imported":0,"alreadyImported":0,"rejected":0}']);
    expect(await print('pets', 'export')).toEqual([]);
  });
});
