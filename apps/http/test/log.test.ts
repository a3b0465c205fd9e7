import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiKey } from '@animal-store/domain/transport';
import { onFreePorts } from '@animal-store/test-kit/free-ports';
import { freshFolder } from '@animal-store/test-kit/fresh-folder';
import { isMissing } from '@animal-store/test-kit/not-run';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  AUTHORIZATION,
  CLOSE,
  KEY,
  metric,
  request,
  type Service,
  serviceAt,
  startService,
  statusesIn,
} from './service.ts';
import { MAIN, startProcess } from './service-process.ts';

test('has a line for each request without secrets, with the code of its error, and probes at level debug', async () => {
  const { add, call, logged } = await startService({ TRUST_PROXY: '1' });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  const wrong = 'a-wrong-key-of-someone';
  const issued = generateApiKey(randomBytes);
  const added = await add({ name: 'a secret näme', categoryId: 1 }, { 'x-request-id': 'one', traceparent });
  for (const [method, path, key, headers] of [
    ['GET', '/v1/pets/1?secret=in-the-query', KEY, { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }],
    ['GET', '/nothing/secret', wrong, { traceparent: `ff${traceparent.slice(2)}` }],
    ['GET', '/v1/pets', wrong, { traceparent: `${traceparent}-x` }],
    ['GET', '/v1/pets', issued, { traceparent: '00-xyz' }],
    ['GET', '/livez', null, { 'x-forwarded-for': 'not an address' }],
    ['POST', '/livez', null, {}],
  ] as const) {
    await call(method, path, { key, headers });
  }
  const common = {
    ...{ level: 30, msg: 'request', method: 'GET', client: '127.0.0.1' },
    ...{ duration: expect.any(Number), bytes: expect.any(Number), requestId: expect.any(String) },
  };
  const keyId = hash('sha256', KEY).slice(0, 16);
  const ofHolder = { ...common, keyId, holder: `configured-${keyId}`, bytes: Buffer.byteLength(added.text) };
  expect(logged).toEqual([
    { ...ofHolder, method: 'POST', route: '/v1/pets', status: 201, requestId: 'one', traceId },
    { ...ofHolder, route: '/v1/pets/:petId', status: 200, client: '203.0.113.7' },
    { ...common, route: 'unmatched', status: 404, error: 'not_found' },
    { ...common, route: '/v1/pets', status: 401, error: 'unauthorized' },
    // The visible prefix of a key that could have been issued.
    { ...common, route: '/v1/pets', status: 401, error: 'unauthorized', key: issued.slice(0, 9) },
    { ...common, level: 20, route: '/livez', status: 200 },
    { ...common, method: 'POST', route: 'unmatched', status: 405, error: 'method_not_allowed' },
  ]);
  for (const secret of [KEY, 'secret', wrong, issued]) expect(JSON.stringify(logged)).not.toContain(secret);
});

/** Runs statements with a `log`, in a process whose output is read to its end. */
function runWithLog(statements: string) {
  const program = `
    import { createLog } from '${new URL('../src/observability/log.ts', import.meta.url)}';
    import { standardOutput } from '${new URL('../src/observability/output.ts', import.meta.url)}';
    const output = standardOutput();
    const log = createLog('info', output);
    ${statements}
    await output.close();
    log.info('after the end');`;
  const words = ['--conditions=@animal-store/source', '--input-type=module', '--eval', program];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 100_000_000 });
  return { stdout, stderr, messages: Array.from(stdout.matchAll(/"msg":"(.*?)"/g), ([, message]) => message) };
}

test('has the last line although others are being written, and a frequent warning once', () => {
  const { stdout, stderr, messages } = runWithLog(`
    output.write('first\\n');
    output.flush();
    for (const message of ['often', 'other', 'often']) log.warnThrottled(message);
    log.info('last');`);
  expect([stdout.split('\n')[0], messages, stderr]).toEqual(['first', ['often', 'other', 'last'], '']);
});

test('has each line, or counts it as dropped', () => {
  // 16 MB, which nothing can write meanwhile.
  const { messages, stderr } = runWithLog(`
    for (let count = 0; count < 16_000; count += 1) log.info('x'.repeat(1_000));
    process.stderr.write(String(output.dropped()));`);
  expect(Number(stderr)).toBeGreaterThan(1_000);
  expect(messages.length).toBe(16_000 - Number(stderr));
});

const isLive = ({ call }: Service): Promise<boolean> =>
  call('GET', '/livez', { key: null }).then(
    ({ status }) => status === 200,
    () => false,
  );

/** Sends requests whose lines have 240 KiB, about four times what a pipe holds. */
async function fillPipe({ raw }: Service): Promise<void> {
  const fields = `${AUTHORIZATION}X-Request-Id: ${'x'.repeat(128)}\r\n`;
  const forty = request('GET /v1/pets', fields).repeat(39) + request('GET /v1/pets', fields + CLOSE);
  for (let count = 0; count < 15; count += 1) expect(statusesIn(await raw(forty))).toEqual(Array(40).fill(200));
}

describe('a service with standard output', () => {
  const startWithOutput = (fd: number, API_KEYS = KEY) =>
    onFreePorts(1, async (port) => {
      const running = startProcess({ PORT: String(port), API_KEYS }, { stdio: ['ignore', fd, 'pipe'] });
      const service = serviceAt(port);
      const end = running.exit.then(() => Promise.reject(new Error(running.output.err)));
      await Promise.race([expect.poll(() => isLive(service)).toBe(true), end]);
      const stop = async () => {
        running.process.kill('SIGTERM');
        return { code: await running.exit, err: running.output.err };
      };
      return { ...service, stop };
    });

  /** A pipe with a reader that does not read. */
  function makePipe(): { reader: number; writer: number } {
    const path = join(freshFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    return { reader: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writer: openSync(path, 'w') };
  }

  test('on a full disk starts, serves and stops, although it can print no key', async () => {
    const fd = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(fd));
    const { call, stop } = await startWithOutput(fd, '');
    expect((await call('GET', '/nothing')).status).toBe(404);
    expect(await stop()).toEqual({ code: 0, err: '' });
  });

  test('whose reader is gone serves, counts dropped lines and stops', async () => {
    const { reader, writer } = makePipe();
    const service = await startWithOutput(writer);
    for (const fd of [writer, reader]) closeSync(fd);
    await expect
      .poll(async () => {
        expect((await service.call('GET', '/v1/pets')).status).toBe(200);
        return metric(service, 'log_lines_dropped_total');
      })
      .toBeGreaterThan(0);
    expect(await service.stop()).toEqual({ code: 0, err: '' });
  });

  test('whose reader does not read serves and ends', async () => {
    const { reader, writer } = makePipe();
    onTestFinished(() => closeSync(reader));
    const service = await startWithOutput(writer);
    closeSync(writer);
    await fillPipe(service);
    expect((await service.stop()).err).toBe('');
  });
});

const script = spawnSync('script', ['--version'], { encoding: 'utf8' });
const missing = isMissing({
  found: script.stdout?.includes('util-linux') ?? false,
  tests: 'the test of the log on a terminal',
  because: 'there is no script(1) of util-linux',
  remedy: "To run it, install util-linux (Debian's package bsdutils).",
});

describe.skipIf(missing)('a service on a terminal', () => {
  /** The terminal reads no more than what is read from its output. The service writes its process id first. */
  async function startOnTerminal() {
    const command = `echo "pid $$"; exec "${process.execPath}" --conditions=@animal-store/source "${MAIN}"`;
    const terminal = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      env: { PATH: process.env['PATH'] as string, PORT: '0', API_KEYS: KEY },
    });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    let text = '';
    terminal.stdout.on('data', (chunk) => {
      text += chunk;
    });
    const output = () => text;
    await expect.poll(output).toMatch(/127\.0\.0\.1:\d+\/v1/);
    const [, pid, port] = /^pid (\d+).*?127\.0\.0\.1:(\d+)\/v1/s.exec(text) ?? [];
    return { terminal, output, pid: Number(pid), service: serviceAt(Number(port)) };
  }

  /** The state of a process that has ended and waits for its parent is Z (proc(5)). */
  const isRunning = (pid: number): boolean =>
    existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

  test('that does not read serves, and ends after SIGTERM', async () => {
    const { terminal, pid, service } = await startOnTerminal();
    terminal.stdout.pause();
    await expect.poll(() => isLive(service), { timeout: 30_000 }).toBe(true);
    await fillPipe(service);
    expect(await isLive(service)).toBe(true);
    process.kill(pid, 'SIGTERM');
    await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
  });

  test('is readable, and stops on Ctrl-C', async () => {
    const { terminal, output, service } = await startOnTerminal();
    await expect.poll(output).toMatch(/ listening/);
    await service.call('GET', '/v1/pets');
    await expect.poll(output).toMatch(/ request/);
    expect(output()).not.toMatch(/^\{/m);
    terminal.stdin.write('\u0003');
    await expect.poll(output).toMatch(/ stopped/);
  });
});
