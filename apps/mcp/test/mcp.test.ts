import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';

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
