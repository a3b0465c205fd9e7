import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMissing } from '@animal-store/test-kit/not-run';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort, KEY, type Service, serviceAt, startService, storageEnvironment } from './service.ts';
import { MAIN } from './service-process.ts';

/** The service with standard output at a file; it is killed when the test ends. */
async function startWithOutput(fd: number, environment: Record<string, string>) {
  const port = await freePort();
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN], {
    env: { PATH: process.env['PATH'] as string, PORT: String(port), ...storageEnvironment(), ...environment },
    stdio: ['ignore', fd, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const service = serviceAt(port);
  await expect.poll(() => isLive(service)).toBe(true);
  return { child, exit, service };
}

async function isLive({ call }: Service): Promise<boolean> {
  try {
    return (await call('GET', '/livez', { key: null })).status === 200;
  } catch {
    return false;
  }
}

async function linesLost({ call }: Service): Promise<number> {
  const { text } = await call('GET', '/metrics', { key: null });
  return Number(/^animal_store_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
}

const FULL_DISK = () => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  return fd;
};

describe('the service with standard output on a full disk', () => {
  test('continues to serve, and counts lost lines', async () => {
    const { child, exit, service } = await startWithOutput(FULL_DISK(), { API_KEYS: KEY });
    expect((await service.add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    await expect.poll(() => linesLost(service)).toBeGreaterThan(0);
    expect((await service.call('GET', '/v1/pets')).json).toHaveLength(1);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  });

  test('starts without keys', async () => {
    const { child, exit, service } = await startWithOutput(FULL_DISK(), {});
    await expect.poll(() => linesLost(service)).toBeGreaterThan(0);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  });
});

test('reports lost lines as soon as the log can be written again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const open = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const reader = open();
  const fd = openSync(path, 'w');
  const { child, exit, service } = await startWithOutput(fd, { API_KEYS: KEY });
  closeSync(fd);
  closeSync(reader);
  for (let count = 0; count < 3; count += 1) expect((await service.call('GET', '/v1/pets')).status).toBe(200);
  await expect.poll(() => linesLost(service)).toBe(3);
  const again = open();
  onTestFinished(() => closeSync(again));
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
  const buffer = Buffer.alloc(65_536);
  const lines = buffer
    .toString('utf8', 0, readSync(again, buffer))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(lines).toEqual([
    expect.objectContaining({ msg: 'listening' }),
    expect.objectContaining({ level: 40, msg: 'log lines were lost', lines: 3, reason: 'EPIPE: broken pipe, write' }),
    expect.objectContaining({ msg: 'stopping' }),
    expect.objectContaining({ msg: 'stopped' }),
  ]);
});

test('continues to serve while nobody reads its output', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = openSync(path, 'w');
  onTestFinished(() => {
    closeSync(fd);
    closeSync(reader);
  });
  const { child, exit, service } = await startWithOutput(fd, { API_KEYS: KEY });
  // A pipe holds 64 KiB.
  const headers = { 'x-request-id': 'x'.repeat(128) };
  for (let count = 0; count < 400; count += 1) {
    expect((await service.call('GET', '/v1/pets', { headers })).status).toBe(200);
  }
  expect(await linesLost(service)).toBe(0);
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

test('changes no response if an observer throws', async () => {
  const defect = new Error('a defect of the observer');
  const throws = () => {
    throw defect;
  };
  const { add, call, raw, unexpectedErrors } = await startService({}, { requestLog: throws });
  expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  expect(await raw('hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  expect(unexpectedErrors).toEqual([defect, defect]);
  const { text } = await call('GET', '/metrics');
  expect(text).toMatch(/^http_request_duration_seconds_count\{.*status="201"\} 1$/m);
  expect(text).toMatch(/^animal_store_internal_errors_total 2$/m);
});

const script = spawnSync('script', ['--version'], { encoding: 'utf8' });
const missing = isMissing({
  found: script.stdout?.includes('util-linux') ?? false,
  tests: 'the tests of the log on a terminal',
  because: 'there is no script(1) of util-linux',
  remedy: "To run them, install util-linux (Debian's package bsdutils).",
});

/** The service on a terminal of its own, which `script` reads. Like a daemon it does not get the terminal's SIGHUP. */
async function startOnTerminal(environment: Record<string, string>) {
  const port = await freePort();
  const command = `exec setsid --wait sh -c 'echo pid $$; exec "${process.execPath}" --conditions=@animal-store/source "${MAIN}"'`;
  const terminal = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] as string, PORT: String(port), ...storageEnvironment(), ...environment },
  });
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const says = async (pattern: RegExp) => {
    await expect.poll(() => output).toMatch(pattern);
    return pattern.exec(output) as RegExpExecArray;
  };
  const pid = Number((await says(/pid (\d+)/))[1]);
  onTestFinished(() => {
    terminal.kill('SIGKILL');
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  await says(/\/v1\b/);
  return { pid, terminal, says, service: serviceAt(port) };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function stops(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM');
  await expect.poll(() => isRunning(pid)).toBe(false);
}

describe.skipIf(missing).each([
  ['with keys', { API_KEYS: KEY }],
  ['without keys', {}],
] as [string, Record<string, string>][])('the service on a terminal, %s', (_, environment) => {
  test('continues to serve after the terminal is closed', async () => {
    const { pid, terminal, says, service } = await startOnTerminal(environment);
    const key = environment['API_KEYS'] ?? ((await says(/this run: +(\S+)/))[1] as string);
    const closed = once(terminal, 'exit');
    terminal.kill('SIGKILL');
    await closed;
    for (const path of ['/v1/pets', '/v1/nothing', '/v1/pets']) {
      expect((await service.call('GET', path, { key })).status).toBe(path === '/v1/pets' ? 200 : 404);
    }
    await expect.poll(() => linesLost(service)).toBe(3);
    await stops(pid);
  });

  test('continues to serve while nobody reads the terminal, and writes all lines once somebody does', async () => {
    const { pid, terminal, says, service } = await startOnTerminal(environment);
    const key = environment['API_KEYS'] ?? ((await says(/this run: +(\S+)/))[1] as string);
    terminal.kill('SIGSTOP');
    // More bytes than the terminal holds.
    const request = async (count: number) => {
      const headers = { 'x-request-id': `${count}`.padEnd(128, '-') };
      expect((await service.call('GET', '/v1/pets', { key, headers })).status).toBe(200);
    };
    for (let count = 0; count < 500; count += 1) await request(count);
    terminal.kill('SIGCONT');
    await says(/ 499-+\r\n/);
    expect(await linesLost(service)).toBe(0);
    terminal.kill('SIGSTOP');
    for (let count = 0; count < 500; count += 1) await request(count);
    await stops(pid);
  });
});
