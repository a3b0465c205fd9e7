import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freshDatabaseFile, freshFile } from '@animal-store/test-kit/fresh-folder';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const ARGUMENTS = ['--conditions=@animal-store/source', MAIN];
const PATH = process.env['PATH'] as string;

test('serves its tools on standard input and output, and the pets outlive the process', async () => {
  const env = { PATH, SQLITE_FILE: freshDatabaseFile() };
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

/** Starts a server, and sends it these calls. Resolves when it has read them. */
async function startWith(environment: Record<string, string>, calls: readonly object[]) {
  const server = spawn(process.execPath, ARGUMENTS, { env: { PATH, ...environment } });
  onTestFinished(() => void server.kill('SIGKILL'));
  let [out, err] = ['', ''];
  server.stdout.setEncoding('utf8').on('data', (chunk) => (out += chunk));
  server.stderr.setEncoding('utf8').on('data', (chunk) => (err += chunk));
  const clientInfo = { name: 'test', version: '1.0.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const messages = [{ id: 0, method: 'initialize', params }, { method: 'notifications/initialized' }, ...calls];
  const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  // Its line on standard error shows that the lines before were read.
  server.stdin.write(`${lines.join('')}nonsense\n`);
  await expect.poll(() => err, { timeout: 30_000 }).toContain('nonsense');
  const ended = once(server, 'close').then(([code]) => {
    const responses = out.trim().split('\n');
    return { code, err, responses: responses.map((line) => JSON.parse(line) as { id: unknown; result?: object }) };
  });
  return { server, ended };
}

/** The module of an adapter that creates a pet 200 ms after the call, and none without a name. */
function slowAdapter(): string {
  const add = '(pet) => new Promise((end) => pet.name === "-" || setTimeout(end, 200, { pet: { id: 1n, ...pet } }))';
  const storage = `{ location: '', pets: { list() {}, add: ${add} }, keys: {}, ready() {}, async close() {} }`;
  const text = `export const adapter = { portsVersion: 1, description: '', open: async () => (${storage}) };`;
  return freshFile('adapter.mjs', text);
}

const creation = (id: number, name = 'Rex') => ({
  id,
  method: 'tools/call',
  params: { name: 'create_pet', arguments: { name, categoryId: '1' } },
});

test.each(['the end of the input', 'SIGTERM'])('responds to calls that were read before %s', async (end) => {
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 9 } };
  const slow = [1, 2, 3, 4, 5, 6].map((id) => creation(id));
  const calls = [creation(9, '-'), cancelled, ...slow, { id: 7, method: 'tools/list' }];
  const { server, ended } = await startWith({ STORAGE: slowAdapter() }, calls);
  const begin = performance.now();
  if (end === 'SIGTERM') server.kill(end);
  else server.stdin.end();
  const { code, responses } = await ended;
  // A cancelled call has no response, and nobody waits for one.
  expect(performance.now() - begin).toBeLessThan(4_000);
  expect(code).toBe(0);
  const succeeded = responses.filter(({ result = { isError: true } }) => !('isError' in result));
  expect(succeeded.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('ends 5 seconds after its input although a call hangs', async () => {
  const { server, ended } = await startWith({ STORAGE: slowAdapter() }, [creation(8, '-')]);
  server.stdin.end();
  const { code, responses } = await ended;
  expect([code, responses.map(({ id }) => id)]).toEqual([0, [0]]);
});

test('names each message that it drops on standard error, in one line', async () => {
  const { server, ended } = await startWith({ SQLITE_FILE: freshDatabaseFile() }, [{ id: 99, result: {} }]);
  server.stdin.end();
  const lines = (await ended).err.split('\n');
  expect(lines).toEqual([expect.stringContaining('unknown message ID'), expect.stringContaining('"nonsense"'), '']);
});

test('ends if the reader of its responses is gone', async () => {
  const { server, ended } = await startWith({ SQLITE_FILE: freshDatabaseFile() }, []);
  server.stdout.destroy();
  server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  expect((await ended).code).toBe(0);
});

test('warns of storage in memory, in one line', () => {
  const options = { env: { PATH }, encoding: 'utf8', input: '' } as const;
  const { status, stderr, stdout } = spawnSync(process.execPath, ARGUMENTS, options);
  const line = /^animal-store-mcp: the animals are kept in memory, .*: set MONGODB_URL, .* to keep them\n$/;
  expect([status, stdout, stderr]).toEqual([0, '', expect.stringMatching(line)]);
});
