import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const ARGUMENTS = ['--conditions=@animal-store/source', MAIN];

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  return join(folder, 'animals.db');
}

/** A client of the server, which runs as a process of its own until the test ends. */
async function connect(environment: Record<string, string>) {
  const env = { PATH: process.env['PATH'] as string, ...environment };
  const transport = new StdioClientTransport({ command: process.execPath, args: ARGUMENTS, env, stderr: 'ignore' });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  // The client checks results only against schemas that it knows.
  await client.listTools();
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown>) => {
    const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: given });
    const [text] = content as { text: string }[];
    return isError ? { error: text?.text } : structuredContent;
  };
  return { client, call };
}

const HINTS = { destructiveHint: false, openWorldHint: false };
const LARGEST = '9223372036854775807';
const rex = { name: 'Rex', categoryId: LARGEST, status: 'available' };

describe('the MCP server', () => {
  test('lists its tools with schemas', async () => {
    const { client } = await connect({});
    const { tools } = await client.listTools();
    expect(tools.map(({ name, title, annotations }) => [name, title, annotations])).toEqual([
      ['list_pets', 'List animals', { ...HINTS, readOnlyHint: true, idempotentHint: true }],
      ['create_pet', 'Add an animal', { ...HINTS, readOnlyHint: false, idempotentHint: false }],
      ['get_pet', 'Get an animal', { ...HINTS, readOnlyHint: true, idempotentHint: true }],
    ]);
    expect(tools[1]?.inputSchema).toMatchObject({
      type: 'object',
      required: ['name', 'categoryId'],
      additionalProperties: false,
    });
    for (const { inputSchema, outputSchema } of tools) {
      for (const schema of [inputSchema, outputSchema]) expect(JSON.stringify(schema)).not.toMatch(/"type":\[|Of":/);
    }
    expect(client.getInstructions()).toMatch(/64-bit integers.* Storage: .+\./);
  });

  test('creates, gets and lists pets, with 64-bit integers digit for digit', async () => {
    const { call } = await connect({});
    expect(await call('create_pet', rex)).toEqual({ id: '1', ...rex });
    expect(await call('create_pet', { name: 'Max', categoryId: -7 })).toEqual({
      id: '2',
      name: 'Max',
      categoryId: '-7',
    });
    expect(await call('get_pet', { id: '1' })).toEqual({ id: '1', ...rex });
    expect(await call('list_pets', { limit: 1 })).toEqual({ pets: [{ id: '1', ...rex }], next: '1' });
    expect(await call('list_pets', { after: '1' })).toEqual({
      pets: [{ id: '2', name: 'Max', categoryId: '-7' }],
    });
    expect(await call('list_pets', { status: 'available' })).toEqual({ pets: [{ id: '1', ...rex }] });
  });

  test('creates one pet for an idempotency key', async () => {
    const { call } = await connect({});
    const first = await call('create_pet', { ...rex, idempotencyKey: 'k' });
    expect(await call('create_pet', { ...rex, idempotencyKey: 'k' })).toEqual(first);
    expect(await call('create_pet', { ...rex, name: 'Max', idempotencyKey: 'k' })).toEqual({
      error: expect.stringMatching(/idempotency key/),
    });
  });

  test('rejects unknown arguments, and lists the known ones', async () => {
    const { call } = await connect({});
    expect(await call('list_pets', { cursor: '2', page: 3 })).toEqual({
      error: 'unknown arguments "cursor", "page": the arguments are limit, status, after',
    });
    expect(await call('create_pet', { ...rex, category: 1 })).toEqual({
      error: 'unknown argument "category": the arguments are name, categoryId, status, idempotencyKey',
    });
    expect(await call('list_pets', {})).toEqual({ pets: [] });
  });

  test('reports all violations in the words of the domain', async () => {
    const { call } = await connect({});
    expect(await call('create_pet', { categoryId: 'x', status: 'lost' })).toEqual({
      error: expect.stringMatching(/^name is required; categoryId must be an integer .*; status must be one of /),
    });
    // JSON.parse has rounded the first: 9007199254740990.6 was sent.
    for (const categoryId of [9007199254740991, -(10 ** 15), 2 ** 60]) {
      expect(await call('create_pet', { ...rex, categoryId })).toEqual({
        error:
          'categoryId must be a string with an integer from -9223372036854775808 to 9223372036854775807: ' +
          'a number of more than 15 digits may not be exact',
      });
    }
    expect(await call('create_pet', { ...rex, categoryId: 10 ** 15 - 1 })).toMatchObject({
      categoryId: '999999999999999',
    });
    expect(await call('create_pet', { ...rex, categoryId: '9'.repeat(30) })).toEqual({
      error: `categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was ${'9'.repeat(30)}`,
    });
    expect(await call('get_pet', { id: '7' })).toEqual({ error: 'no pet has the id 7' });
    expect(await call('get_pet', {})).toEqual({ error: expect.stringMatching(/^id must be/) });
    expect(await call('list_pets', { limit: 101, after: 'x' })).toEqual({
      error: expect.stringMatching(/^limit must be an integer from 1 to 100.*; after must be/),
    });
  });
});

test('pets outlive the process in a file', async () => {
  const environment = { SQLITE_FILE: freshFile() };
  const first = await connect(environment);
  await first.call('create_pet', rex);
  await first.client.close();
  const second = await connect(environment);
  expect(await second.call('get_pet', { id: '1' })).toEqual({ id: '1', ...rex });
});

describe('calls in flight', () => {
  const initialize = {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
  };
  const create = { id: 2, method: 'tools/call', params: { name: 'create_pet', arguments: rex } };
  const lines = (...messages: object[]) =>
    messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');

  /** A server on a file whose write lock is held until `unlock`. */
  function locked() {
    const file = freshFile();
    const storage = new DatabaseSync(file);
    onTestFinished(() => storage.close());
    const server = spawn(process.execPath, ARGUMENTS, { env: { PATH: process.env['PATH'], SQLITE_FILE: file } });
    onTestFinished(() => void server.kill('SIGKILL'));
    const output = { out: '', err: '' };
    server.stdout.on('data', (chunk) => (output.out += chunk));
    server.stderr.on('data', (chunk) => (output.err += chunk));
    storage.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
    return { server, output, unlock: () => storage.exec('COMMIT'), exit: once(server, 'close') };
  }

  const created = /"structuredContent":\{"id":"1".*"id":2/;

  test('get their responses if the client ends its side after them', async () => {
    const { server, output, unlock, exit } = locked();
    server.stdin.end(lines(initialize, { method: 'notifications/initialized' }, create));
    await expect.poll(() => output.out).toContain('"id":1');
    await sleep(300);
    unlock();
    expect(await exit).toEqual([0, null]);
    expect(output).toEqual({ out: expect.stringMatching(created), err: '' });
  });

  test('get their responses after a signal, and later ones are not served', async () => {
    const { server, output, unlock, exit } = locked();
    server.stdin.write(lines(initialize, { method: 'notifications/initialized' }, create));
    await expect.poll(() => output.out).toContain('"id":1');
    server.kill('SIGTERM');
    await sleep(1_000);
    server.stdin.write(lines({ ...create, id: 3 }));
    unlock();
    expect(await exit).toEqual([0, null]);
    expect(output).toEqual({ out: expect.stringMatching(created), err: '' });
    expect(output.out).not.toContain('"id":3');
  });
});

test('ends with 0 on SIGTERM while it loads', () => {
  const program = `
    import { registerHooks } from 'node:module';
    let sent = false;
    registerHooks({
      resolve(url, context, next) {
        if (!sent && url.startsWith('@modelcontextprotocol/')) sent = process.kill(process.pid, 'SIGTERM');
        return next(url, context);
      },
    });`;
  const hook = `--import=data:text/javascript,${encodeURIComponent(program)}`;
  const env = { PATH: process.env['PATH'] as string };
  const { status, stderr, stdout } = spawnSync(process.execPath, [hook, ...ARGUMENTS], { env, encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([0, '', '']);
});

test('ends with 2 and one line if the environment is wrong', () => {
  const env = { PATH: process.env['PATH'] as string, STORAGE: 'mongodb' };
  const { status, stderr, stdout } = spawnSync(process.execPath, ARGUMENTS, { env, encoding: 'utf8' });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^animal-store-mcp: MONGODB_URL must be set if STORAGE is mongodb[^\n]*\n$/);
});

test('warns of a misspelled variable, and of storage in memory', () => {
  const env = { PATH: process.env['PATH'] as string, MONGO_URL: 'mongodb://me:secret@host/animals' };
  const { status, stderr, stdout } = spawnSync(process.execPath, ARGUMENTS, { env, encoding: 'utf8', input: '' });
  expect([status, stdout]).toEqual([0, '']);
  expect(stderr.split('\n')).toEqual([
    'animal-store-mcp: MONGO_URL is not a setting: MONGODB_URL is probably meant',
    expect.stringMatching(
      /^animal-store-mcp: the animals are kept in memory, .*: set MONGODB_URL, POSTGRES_URL or SQLITE_FILE to /,
    ),
    '',
  ]);
});
