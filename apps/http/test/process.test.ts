import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, serviceAt, storageEnvironment } from './service.ts';
import { listeningAt, MAIN, startProcess } from './service-process.ts';

test('prints a key once and a curl command that works as it stands on the first run', async () => {
  const running = startProcess({});
  const [line] = await running.says(/^ {2}curl [^\n]*\\\n[^\n]*\n/m);
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${line.trim().replace('curl', 'curl -s')}`]);
  expect(stdout).toBe('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
  // In memory that is worth a warning.
  const storages = {
    mongodb: /Storage: +MongoDB\n/,
    postgres: /Storage: +PostgreSQL\n/,
    sqlite: /Storage: +a SQLite file\n/,
  };
  const storage = storages[storageEnvironment()['STORAGE'] as keyof typeof storages];
  expect(running.output.out).toMatch(storage ?? /gone when the service stops/);
  expect(running.output.out.match(/made for this run/g)).toHaveLength(1);
  const port = await listeningAt(running);
  const [, key] = await running.says(/made for this run: +(\S+)/);
  expect((await serviceAt(port).call('GET', '/v1/pets', { key: key as string })).status).toBe(200);
});

test('generates another key for each run', async () => {
  const keys = await Promise.all(
    [startProcess({}), startProcess({})].map(async (running) => (await running.says(/made for this run: +(\S+)/))[1]),
  );
  expect(keys[0]).not.toBe(keys[1]);
});

test('prints one line of JSON without a key if keys are configured', async () => {
  const production = { API_KEYS: KEY, NODE_ENV: 'production', STORAGE: 'memory', REVISION: '0a1b2c3' };
  const running = startProcess({ ...production, ...storageEnvironment() });
  const port = await listeningAt(running);
  expect(JSON.parse(running.output.out)).toMatchObject({
    msg: 'listening',
    url: `http://127.0.0.1:${port}/v1`,
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    revision: '0a1b2c3',
  });
  expect(running.output.out).not.toContain(KEY);
  expect((await serviceAt(port).call('GET', '/v1/pets')).status).toBe(200);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'finishes requests in flight on %s, and ends with 0',
  async (signal) => {
    const running = startProcess({ API_KEYS: KEY });
    const port = await listeningAt(running);
    const { call } = serviceAt(port);
    // A request whose body is half sent is in flight.
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', connection: 'keep-alive' };
    const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', path: '/v1/pets', headers });
    const reply = new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
      request.on('response', (response) => {
        response.resume();
        resolve({ status: response.statusCode as number, connection: response.headers.connection });
      });
      request.on('error', reject);
    });
    request.write('{"name":"Rex",');
    // Its connection is accepted after that of the request in flight.
    expect((await call('GET', '/livez', { key: null })).status).toBe(200);
    running.process.kill(signal);
    await running.says(/"stopping"/);
    request.end('"categoryId":1}');
    expect(await reply).toEqual({ status: 201, connection: 'close' });
    expect(await running.exit).toBe(0);
    expect(running.output.err).toBe('');
    await expect(call('GET', '/livez', { key: null })).rejects.toThrow(/ECONNREFUSED/);
  },
);

/** Sends the process a signal as soon as it loads anything beside its first two files. */
function signalOnLoading(signal: string): Record<string, string> {
  const program = `
    import { registerHooks } from 'node:module';
    let sent = false;
    registerHooks({
      load(url, context, next) {
        if (!sent && !/\\/(?:main|run-application|configuration-error)\\.ts$/.test(url)) sent = process.kill(process.pid, '${signal}');
        return next(url, context);
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('ends with 0 on %s while it loads, and never listens', async (signal) => {
  const running = startProcess({ API_KEYS: KEY, ...signalOnLoading(signal) });
  expect(await running.exit).toBe(0);
  expect(running.output).toEqual({ out: '', err: '' });
});

test('stops once if another signal comes while it stops', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_GRACE_SECONDS: '1' });
  // Without an open connection the stop would be over before the second signal.
  const connection = connect(await listeningAt(running), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void connection.destroy());
  await once(connection, 'connect');
  running.process.kill('SIGTERM');
  await running.says(/"stopping"/);
  running.process.kill('SIGINT');
  expect(await running.exit).toBe(0);
  expect(running.output.out.match(/"stopping"/g)).toHaveLength(1);
  expect(running.output.err).toBe('');
});

test('does not wait for an idle connection', async () => {
  const running = startProcess({ API_KEYS: KEY });
  const port = await listeningAt(running);
  await new Promise<void>((resolve, reject) => {
    const request = sendRequest(
      { port, host: '127.0.0.1', path: '/livez', headers: { connection: 'keep-alive' } },
      (response) => {
        response.resume();
        response.on('end', resolve);
      },
    );
    request.on('error', reject);
    request.end();
  });
  running.process.kill('SIGTERM');
  expect(await running.exit).toBe(0);
});

test.each([
  [{ PORT: 'x', LOG_LEVEL: 'loud' }, /^animal-store: PORT must be .*; LOG_LEVEL must be .*\n$/],
  [{ API_KEYS: 'short' }, /^animal-store: API_KEYS entry 1 must be .*\n$/],
  [{ API_KEYS_FILE: '/x' }, /^animal-store: API_KEYS_FILE: the file can't be read: no such file or directory\n$/],
  [{ STORAGE: 'memory', NODE_ENV: 'production' }, /^animal-store: API_KEYS must be set.*\n$/],
  [{ STORAGE: 'mongodb', MONGODB_URL: '' }, /^animal-store: MONGODB_URL must be set.*\n$/],
  [
    { STORAGE: 'sqlite', SQLITE_FILE: '/' },
    /^animal-store: SQLITE_FILE: \/ cannot be used: it must be a regular file\n$/,
  ],
  [{ STORAGE: 'mongodb', MONGODB_URL: 'mongodb://me:secret@host' }, /^animal-store: MONGODB_URL: (?!.*secret).*\n$/],
  [{ HOST: '203.0.113.1' }, /^animal-store: can't listen at 203\.0\.113\.1, port 0: .*\n$/],
] as [Record<string, string>, RegExp][])('ends with code 2 and one line for %o', async (environment, line) => {
  const running = startProcess(environment);
  expect(await running.exit).toBe(2);
  expect(running.output.err).toMatch(line);
  expect(running.output.out).toBe('');
});

test.each([
  ['--version', 0, /^animal-store \d+\.\d+\.\d+ \(revision 0a1b2c3\)\n$/, /^$/],
  ['--help', 0, /^Usage: animal-store .*MONGODB_URL, POSTGRES_URL or SQLITE_FILE says where/s, /^$/],
  ['--port', 2, /^$/, /^animal-store: unexpected argument "--port": settings are environment variables, see --help\n$/],
])('responds to the argument %s without starting', async (argument, code, out, err) => {
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN, argument], {
    env: { PATH: process.env['PATH'] as string, REVISION: '0a1b2c3' },
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect([exitCode, stdout, stderr]).toEqual([code, expect.stringMatching(out), expect.stringMatching(err)]);
});

test('ends with code 2 on a configuration error even if standard error cannot be written', async () => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN], {
    env: { PATH: process.env['PATH'] as string, PORT: 'x' },
    stdio: ['ignore', 'ignore', fd],
  });
  expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(2);
});

test('opens no debugger on SIGUSR1 in production', async () => {
  const running = startProcess({ API_KEYS: KEY, NODE_ENV: 'production', STORAGE: 'memory' });
  const { call } = serviceAt(await listeningAt(running));
  running.process.kill('SIGUSR1');
  await running.says(/"level":40,.*"msg":"SIGUSR1 is ignored in production"/);
  expect((await call('GET', '/livez', { key: null })).status).toBe(200);
  expect(running.output.err).toBe('');
});

test('ends with code 2 and one line if the port is in use', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const running = startProcess({ PORT: String(port) });
  expect(await running.exit).toBe(2);
  expect(running.output.err).toBe(
    `animal-store: can't listen at 127.0.0.1, port ${port}: it is in use; choose another PORT\n`,
  );
});

test('ends if the reader of the log has closed it', async () => {
  const running = startProcess({ API_KEYS: KEY });
  await listeningAt(running);
  running.process.stdout.destroy();
  running.process.kill('SIGTERM');
  expect(await running.exit).toBe(0);
});

test('serves and stops if the reader of the log has closed it', async () => {
  const running = startProcess({ API_KEYS: KEY });
  const { call } = serviceAt(await listeningAt(running));
  running.process.stdout.destroy();
  for (let count = 0; count < 50; count += 1) {
    expect((await call('GET', '/v1/pets')).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  running.process.kill('SIGTERM');
  expect(await running.exit).toBe(0);
});

test('ends if the reader of the log reads nothing', async () => {
  const running = startProcess({ API_KEYS: KEY });
  const { raw } = serviceAt(await listeningAt(running));
  running.process.stdout.pause();
  // Lines of more bytes than fit between the two processes.
  const request = `GET /nothing HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${'x'.repeat(128)}\r\n`;
  const responses = await raw(`${`${request}\r\n`.repeat(5_000)}${request}Connection: close\r\n\r\n`);
  expect(responses.match(/HTTP\/1\.1 404 /g)).toHaveLength(5_001);
  const exit = new Promise((resolve) => running.process.on('exit', resolve));
  running.process.kill('SIGTERM');
  expect(await exit).toBe(0);
  expect(running.output.err).toBe('');
});
