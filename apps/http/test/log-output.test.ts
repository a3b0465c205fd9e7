import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMissing } from '@animal-store/test-kit/not-run';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, KEY, type Service, serviceAt } from './service.ts';
import { MAIN, type Running, startProcess } from './service-process.ts';

/** The service with standard output at a file. */
async function startWithOutput(fd: number, environment: Record<string, string> = { API_KEYS: KEY }) {
  const port = await freePort();
  const running = startProcess({ PORT: String(port), ...environment }, { stdio: ['ignore', fd, 'pipe'] });
  const service = serviceAt(port);
  await expect.poll(() => isLive(service)).toBe(true);
  return { ...running, service };
}

async function stops({ process, exit, output }: Pick<Running, 'process' | 'exit' | 'output'>): Promise<void> {
  process.kill('SIGTERM');
  expect([await exit, output.err]).toEqual([0, '']);
}

/** A pipe with a reader that does not read. */
function makePipe(): { reader: number; writer: number } {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  return { reader: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writer: openSync(path, 'w') };
}

/** The state of a process that has ended and waits for its parent is Z (proc(5)). */
const isRunning = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

const isLive = ({ call }: Service): Promise<boolean> =>
  call('GET', '/livez', { key: null }).then(
    ({ status }) => status === 200,
    () => false,
  );

async function linesDropped({ call }: Service): Promise<number> {
  const { text } = await call('GET', '/metrics', { key: null });
  return Number(/^log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
}

/** Sends requests whose lines have 240 KiB, about four times what a pipe holds. */
async function fillPipe({ call }: Service): Promise<void> {
  const headers = { 'x-request-id': 'x'.repeat(128) };
  for (let count = 0; count < 600; count += 1) expect((await call('GET', '/v1/pets', { headers })).status).toBe(200);
}

test.each([
  ['with keys', { API_KEYS: KEY }],
  ['without keys', {}],
] as [string, Record<string, string>][])('starts, serves and stops on a full disk, %s', async (_, environment) => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  const running = await startWithOutput(fd, environment);
  expect((await running.service.call('GET', '/nothing')).status).toBe(404);
  await stops(running);
});

test('serves and stops after the reader of its log is gone, and counts dropped lines', async () => {
  const { reader, writer } = makePipe();
  const running = await startWithOutput(writer);
  closeSync(writer);
  closeSync(reader);
  const { service } = running;
  await expect
    .poll(async () => {
      expect((await service.call('GET', '/v1/pets')).status).toBe(200);
      return linesDropped(service);
    })
    .toBeGreaterThan(0);
  await stops(running);
});

test('serves and ends while the reader of its log does not read', async () => {
  const { reader, writer } = makePipe();
  onTestFinished(() => closeSync(reader));
  const running = await startWithOutput(writer);
  closeSync(writer);
  await fillPipe(running.service);
  running.process.kill('SIGTERM');
  await running.exit;
  expect(running.output.err).toBe('');
});

/** Runs statements with a `log`, in a process whose output is read to its end. */
function runWithLog(statements: string): { stdout: string; stderr: string } {
  const program = `
    import { createLog } from '${new URL('../src/observability/log.ts', import.meta.url)}';
    const log = await createLog('info', false);
    ${statements}
    if (!(await log.close())) throw new Error('late');
    log.info('after the end');`;
  const words = ['--conditions=@animal-store/source', '--input-type=module', '--eval', program];
  return spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 100_000_000 });
}

test('writes the last line although others are being written', () => {
  const { stdout, stderr } = runWithLog(`log.print('first\\n'); log.info('last');`);
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^first\n\{.*"msg":"last"\}\n$/), '']);
});

test('writes each line or counts it as dropped', () => {
  // 16 MB, which nothing can write meanwhile.
  const { stdout, stderr } = runWithLog(`
    for (let count = 0; count < 16_000; count += 1) log.info('x'.repeat(1_000));
    process.stderr.write(String(log.dropped()));`);
  expect(Number(stderr)).toBeGreaterThan(1_000);
  expect(stdout.match(/\n/g)?.length).toBe(16_000 - Number(stderr));
});

const script = spawnSync('script', ['--version'], { encoding: 'utf8' });
const missing = isMissing({
  found: script.stdout?.includes('util-linux') ?? false,
  tests: 'the test of the log on a terminal',
  because: 'there is no script(1) of util-linux',
  remedy: "To run it, install util-linux (Debian's package bsdutils).",
});

/** The service on a terminal, which reads no more than what is read from its output. It writes its process id first. */
async function startOnTerminal() {
  const port = await freePort();
  const command = `echo "pid $$"; exec "${process.execPath}" --conditions=@animal-store/source "${MAIN}"`;
  const terminal = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] as string, PORT: String(port), API_KEYS: KEY },
  });
  onTestFinished(() => void terminal.kill('SIGKILL'));
  return { terminal, port };
}

test.skipIf(missing)('serves, and ends after SIGTERM, while its terminal does not read', async () => {
  const { terminal, port } = await startOnTerminal();
  const [first] = (await once(terminal.stdout, 'data')) as [Buffer];
  const pid = Number(/^pid (\d+)/.exec(String(first))?.[1]);
  terminal.stdout.pause();
  const service = serviceAt(port);
  await expect.poll(() => isLive(service), { timeout: 30_000 }).toBe(true);
  await fillPipe(service);
  expect(await isLive(service)).toBe(true);
  process.kill(pid, 'SIGTERM');
  await expect.poll(() => isLive(service), { timeout: 30_000 }).toBe(false);
  await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
});

test.skipIf(missing)('is readable on a terminal', async () => {
  const { terminal, port } = await startOnTerminal();
  const ended = new Promise((resolve) => terminal.on('close', resolve));
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await expect.poll(() => output).toMatch(/ listening/);
  await serviceAt(port).call('GET', '/v1/pets');
  await expect.poll(() => output).toMatch(/ request/);
  expect(output).not.toMatch(/^\{/m);
  // The terminal passes Ctrl-C on.
  terminal.stdin.write('\u0003');
  await ended;
  expect(output).toMatch(/ stopped/);
});
