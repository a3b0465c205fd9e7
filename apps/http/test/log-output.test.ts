import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMissing } from '@animal-store/test-kit/not-run';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort, KEY, type Service, serviceAt, startService } from './service.ts';
import { MAIN, type Running, startProcess } from './service-process.ts';

/** The service with standard output at a file. */
async function startWithOutput(fd: number, environment: Record<string, string>) {
  const port = await freePort();
  const running = startProcess({ PORT: String(port), ...environment }, { stdio: ['ignore', fd, 'pipe'] });
  const service = serviceAt(port);
  await expect.poll(() => isLive(service)).toBe(true);
  return { ...running, service };
}

async function stops({ process, exit }: Pick<Running, 'process' | 'exit'>): Promise<void> {
  process.kill('SIGTERM');
  expect(await exit).toBe(0);
}

/** A pipe with a name, and what opens it to read. */
function makePipe(): { path: string; openReader: () => number } {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  return { path, openReader: () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) };
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

test.each([
  ['with keys', { API_KEYS: KEY }],
  ['without keys', {}],
] as [string, Record<string, string>][])(
  'starts and serves on a full disk %s, and counts lost lines',
  async (_, keys) => {
    const fd = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(fd));
    const running = await startWithOutput(fd, keys);
    expect((await running.service.call('GET', '/nothing')).status).toBe(404);
    await expect.poll(() => linesLost(running.service)).toBeGreaterThan(0);
    await stops(running);
  },
);

test('reports lost lines as soon as the log can be written again', async () => {
  const { path, openReader } = makePipe();
  const reader = openReader();
  const fd = openSync(path, 'w');
  const running = await startWithOutput(fd, { API_KEYS: KEY });
  const { service } = running;
  closeSync(fd);
  closeSync(reader);
  for (let count = 0; count < 3; count += 1) expect((await service.call('GET', '/v1/pets')).status).toBe(200);
  await expect.poll(() => linesLost(service)).toBe(3);
  const again = openReader();
  onTestFinished(() => closeSync(again));
  await stops(running);
  const buffer = Buffer.alloc(65_536);
  const lines = buffer.toString('utf8', 0, readSync(again, buffer)).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ msg: 'listening' }),
    expect.objectContaining({ level: 40, msg: 'log lines were lost', lines: 3, reason: 'EPIPE: broken pipe, write' }),
    expect.objectContaining({ msg: 'stopping' }),
    expect.objectContaining({ msg: 'stopped' }),
  ]);
});

test('continues to serve while its output is not read', async () => {
  const { path, openReader } = makePipe();
  const reader = openReader();
  const fd = openSync(path, 'w');
  onTestFinished(() => {
    closeSync(fd);
    closeSync(reader);
  });
  const running = await startWithOutput(fd, { API_KEYS: KEY });
  const { service } = running;
  // A pipe holds 64 KiB.
  const headers = { 'x-request-id': 'x'.repeat(128) };
  for (let count = 0; count < 400; count += 1) {
    expect((await service.call('GET', '/v1/pets', { headers })).status).toBe(200);
  }
  expect(await linesLost(service)).toBe(0);
  await stops(running);
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
async function startOnTerminal() {
  const port = await freePort();
  const command = `exec setsid --wait sh -c 'echo pid $$; exec "${process.execPath}" --conditions=@animal-store/source "${MAIN}"'`;
  const terminal = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] as string, PORT: String(port), API_KEYS: KEY },
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
  const stop = async () => {
    process.kill(pid, 'SIGTERM');
    await expect.poll(() => isRunning(pid)).toBe(false);
  };
  return { terminal, says, stop, service: serviceAt(port) };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.skipIf(missing)('the service on a terminal', () => {
  test('continues to serve while the terminal is not read, and writes all lines when it is read again', async () => {
    const { terminal, says, service, stop } = await startOnTerminal();
    // More bytes than the terminal holds.
    const sendMany = async () => {
      for (let count = 0; count < 500; count += 1) {
        const headers = { 'x-request-id': `${count}`.padEnd(128, '-') };
        expect((await service.call('GET', '/v1/pets', { headers })).status).toBe(200);
      }
    };
    terminal.kill('SIGSTOP');
    await sendMany();
    terminal.kill('SIGCONT');
    await says(/ 499-+\r\n/);
    expect(await linesLost(service)).toBe(0);
    terminal.kill('SIGSTOP');
    await sendMany();
    await stop();
  });
});
