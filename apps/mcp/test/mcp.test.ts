import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const ARGUMENTS = ['--conditions=@animal-store/source', MAIN];
const PATH = process.env['PATH'] as string;

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  return join(folder, 'animals.db');
}

test('serves its tools on standard input and output, and the pets outlive the process', async () => {
  const env = { PATH, SQLITE_FILE: freshFile() };
  const rex = { name: 'Rex', categoryId: '9223372036854775807' };
  const calls = [
    { name: 'create_pet', arguments: rex },
    { name: 'get_pet', arguments: { id: '1' } },
  ];
  for (const call of calls) {
    const transport = new StdioClientTransport({ command: process.execPath, args: ARGUMENTS, env, stderr: 'ignore' });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport);
    onTestFinished(() => client.close());
    expect((await client.callTool(call)).structuredContent).toEqual({ id: '1', ...rex });
    await client.close();
  }
});

test.each(['SIGTERM', 'the end of its input'])('ends with 0 after %s', async (end) => {
  const server = spawn(process.execPath, ARGUMENTS, { env: { PATH, SQLITE_FILE: freshFile() } });
  onTestFinished(() => void server.kill('SIGKILL'));
  const exit = once(server, 'exit');
  const clientInfo = { name: 'test', version: '1.0.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  await once(server.stdout, 'data');
  if (end === 'SIGTERM') server.kill(end);
  else server.stdin.end();
  expect(await exit).toEqual([0, null]);
});

/** Starts a server, and sends it these calls. Resolves when it has read them. */
async function startWith(environment: Record<string, string>, calls: readonly object[]) {
  const server = spawn(process.execPath, ARGUMENTS, { env: { PATH, ...environment } });
  onTestFinished(() => void server.kill('SIGKILL'));
  const output = { out: '', err: '' };
  server.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  server.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  const clientInfo = { name: 'test', version: '1.0.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const messages = [{ id: 0, method: 'initialize', params }, { method: 'notifications/initialized' }, ...calls];
  const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  // Its rejection shows that the lines before were read.
  server.stdin.write(`${lines.join('')}nonsense\n`);
  await expect.poll(() => output.out, { timeout: 30_000 }).toContain('-32700');
  const ended = once(server, 'close').then(([code]) => ({
    code,
    err: output.err,
    answered: output.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: unknown; result?: { structuredContent?: { id: string } } }),
  }));
  return { server, ended };
}

/** The module of an adapter whose `add` is this expression. */
function slowAdapter(add: string): string {
  const module = join(dirname(freshFile()), 'adapter.mjs');
  const storage = `{ location: '', pets: { list() {}, add: ${add} }, keys: {}, ready() {}, async close() {} }`;
  writeFileSync(module, `export const adapter = { portsVersion: 1, description: '', open: async () => (${storage}) };`);
  return module;
}

const creation = (id: number) => ({
  id,
  method: 'tools/call',
  params: { name: 'create_pet', arguments: { name: 'Rex', categoryId: '1' } },
});

describe('calls that were read get their responses before the process ends', () => {
  const slow = 'async (pet) => (await new Promise((end) => setTimeout(end, 200)), { pet: { id: 1n, ...pet } })';
  const IDS = [1, 2, 3, 4, 5, 6];

  test.each([
    ...[
      ['the end of the input', 'memory', () => ({ STORAGE: 'memory' })],
      ['the end of the input', 'SQLite', () => ({ SQLITE_FILE: freshFile() })],
      ['the end of the input', 'a slow storage', () => ({ STORAGE: slowAdapter(slow) })],
      ['SIGTERM', 'SQLite', () => ({ SQLITE_FILE: freshFile() })],
      ['SIGTERM', 'a slow storage', () => ({ STORAGE: slowAdapter(slow) })],
      ['SIGINT', 'a slow storage', () => ({ STORAGE: slowAdapter(slow) })],
    ],
  ] as [string, string, () => Record<string, string>][])('after %s, from %s', async (end, _, environmentOf) => {
    const { server, ended } = await startWith(environmentOf(), IDS.map(creation));
    if (end.startsWith('SIG')) server.kill(end as NodeJS.Signals);
    else server.stdin.end();
    const { code, answered } = await ended;
    expect(code).toBe(0);
    const created = answered.filter(({ result }) => result?.structuredContent?.id !== undefined);
    expect(created.map(({ id }) => id).sort()).toEqual(IDS);
  });

  test('within 5 seconds; the others are named on standard error', async () => {
    const STORAGE = slowAdapter('() => new Promise(() => {})');
    const { server, ended } = await startWith({ STORAGE }, [creation(1), { id: 2, method: 'tools/list' }]);
    const begin = performance.now();
    server.stdin.end();
    const { code, answered, err } = await ended;
    expect(performance.now() - begin).toBeGreaterThan(4_900);
    expect(code).toBe(0);
    expect(answered.map(({ id }) => id).sort()).toEqual([0, 2, null]);
    expect(err).toMatch(/^animal-store-mcp: request 1 got no response before the end$/m);
  });

  test('unless the client cancels them', async () => {
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 1 } };
    const STORAGE = slowAdapter('() => new Promise(() => {})');
    const { server, ended } = await startWith({ STORAGE }, [creation(1), cancelled]);
    server.stdin.end();
    expect(await ended).toMatchObject({ code: 0, err: expect.not.stringContaining('no response') });
  });
});

test('names what it drops on standard error', async () => {
  const { server, ended } = await startWith({ SQLITE_FILE: freshFile() }, [{ id: 99, result: {} }]);
  server.stdin.end();
  expect((await ended).err).toMatch(/^animal-store-mcp: [^\n]*unknown message ID[^\n]*\n$/);
});

test('ends if the reader of its responses is gone', async () => {
  const { server, ended } = await startWith({ SQLITE_FILE: freshFile() }, []);
  server.stdout.destroy();
  server.stdin.write('nonsense\n');
  expect((await ended).code).toBe(0);
});

test('ends with 2 and one line if the environment is wrong', () => {
  const env = { PATH, STORAGE: 'mongodb' };
  const { status, stderr, stdout } = spawnSync(process.execPath, ARGUMENTS, { env, encoding: 'utf8' });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^animal-store-mcp: MONGODB_URL must be set if STORAGE is mongodb[^\n]*\n$/);
});

test('warns of storage in memory', () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ARGUMENTS, {
    env: { PATH },
    encoding: 'utf8',
    input: '',
  });
  expect([status, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(/^animal-store-mcp: the animals are kept in memory, .*: set MONGODB_URL, .* to keep them\n$/);
});
