import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromSources, ROOT, run } from '@animal-store/test-kit/programs';
import { callsTo } from '@animal-store/test-kit/service';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { expectContractToPass } from './contract.ts';
import { installed } from './runtimes.ts';

const consumer = inject('consumer');

const NAME = '@acme/animal-store-shelves';

/** The package, installed beside those of Animal Store. */
const INSTALLED = join(consumer, 'node_modules', NAME);

/** The package, as its author writes it: docs/writing-an-adapter.md. */
const STARTER = join(ROOT, 'docs/adapter-starter');

const PASSWORD = 'open-sesame';
/** Of the engine in this process. */
let engineUrl: string;

beforeAll(async () => {
  const { startEngine } = await import(join(STARTER, 'engine.js'));
  const engine = await startEngine(PASSWORD);
  engineUrl = engine.url;
  await run('npm', ['pack', '--pack-destination', consumer], { cwd: STARTER });
  mkdirSync(INSTALLED, { recursive: true });
  const packed = 'acme-animal-store-shelves-1.0.0.tgz';
  await run('tar', ['-xzf', packed, '--strip-components=1', '-C', INSTALLED], { cwd: consumer });
  return engine.close;
});

/** A new shelf. */
const newShelf = () => `${engineUrl}/${crypto.randomUUID()}`;

/** Starts an application of this repository, and resolves to what it has written when that matches, or it has ended. */
function outputOf(application: string, words: string[], environment: Record<string, string>, until = /never/) {
  const env = { PATH: process.env['PATH'], STORAGE: join(INSTALLED, 'adapter.js'), ...environment };
  const child = spawn(process.execPath, [...fromSources(application), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise<{ output: string; code: number | null }>((resolve) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
      if (until.test(output)) resolve({ output, code: null });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('close', (code) => resolve({ output, code }));
  });
}

describe('an adapter of another repository', () => {
  test('passes the contract on the oldest Node.js that it supports', async () => {
    copyFileSync(join(STARTER, 'engine.js'), join(consumer, 'engine.js'));
    await expectContractToPass(
      consumer,
      'acme',
      readFileSync(join(STARTER, 'adapter.test.js'), 'utf8'),
      installed('node-22/bin/node'),
    );
  });

  test('is served over HTTP, with its description and its warnings', async () => {
    const environment = { PORT: '0', ACME_SHELF: newShelf() };
    const { output } = await outputOf('http', [], environment, /curl .*\n/);
    expect(output).toMatch(/ACME_SHELF: the password is sent without TLS/);
    const [, url, key] = /listens at (\S+).*this run: +(\S+)\n {2}Storage: +the shelves of Acme\n/s.exec(output) ?? [];
    const response = await callsTo(url as string).add('Rex', key);
    expect(await response.text()).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807}');
  });

  test('is logged in production by the value of STORAGE', async () => {
    const environment = { PORT: '0', NODE_ENV: 'production', API_KEYS: 'k'.repeat(16), ACME_SHELF: newShelf() };
    const { output } = await outputOf('http', [], environment, /"listening".*\n/);
    expect(output).toContain(JSON.stringify({ storage: join(INSTALLED, 'adapter.js') }).slice(1, -1));
  });

  test('reports its configuration errors under its variable, in one line', async () => {
    const wrong = { code: 2, output: 'animal-store: ACME_SHELF: it must begin with http:// or https://\n' };
    expect(await outputOf('http', [], { ACME_SHELF: 'zoo' })).toEqual(wrong);
    expect(await outputOf('cli', ['pets', 'list'], { ACME_SHELF: 'zoo' })).toEqual(wrong);
  });

  test('creates no place for a command that reads, and writes no password in its errors', async () => {
    const end = (line: string) => ({ code: 2, output: `animal-store: ACME_SHELF: ${line}\n` });
    const shelf = newShelf();
    for (const words of [
      ['pets', 'list'],
      ['keys', 'list'],
    ]) {
      expect(await outputOf('cli', words, { ACME_SHELF: shelf })).toEqual(end('there is no such shelf'));
    }
    const wrong = shelf.replace(PASSWORD, 'a wrong one');
    expect(await outputOf('cli', ['keys', 'list'], { ACME_SHELF: wrong })).toEqual(
      end('the engine rejects the password'),
    );
  });

  test('is used on the command line and by the MCP server, and named by the help', async () => {
    const environment = { ACME_SHELF: newShelf() };
    const pet = ['pets', 'create', '--name', 'Rex', '--category-id', '7'];
    expect(await outputOf('cli', pet, environment)).toMatchObject({ code: 0 });
    const issued = await outputOf('cli', ['keys', 'issue', '--holder', 'the zoo'], environment);
    expect(issued).toEqual({ code: 0, output: expect.stringMatching(/"holder":"the zoo"/) });
    expect((await outputOf('cli', ['--help'], {})).output).toMatch(/ or ACME_SHELF selects/);
    expect(await outputOf('mcp', [], environment)).toEqual({
      code: 0,
      output: 'animal-store-mcp: ACME_SHELF: the password is sent without TLS\n',
    });
  });
});
