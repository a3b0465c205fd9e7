import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freshFile, KEY, openSocket } from './service.ts';
import { startProcess } from './service-process.ts';

describe('a start', () => {
  test('prints a key of its own once, and a curl command that works', async () => {
    const [running, other] = [startProcess({}), startProcess({})];
    const [line] = await running.says(/^ {2}curl [^\n]*\\\n[^\n]*\n/m);
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${line.trim().replace('curl', 'curl -s')}`]);
    expect(stdout).toBe('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
    expect(running.output.out).toMatch(/^\nAnimal Store .*gone when the service stops/s);
    expect(running.output.out.match(/made for this run/g)).toHaveLength(1);
    const key = (await running.says(/made for this run: +(\S+)/))[1] as string;
    expect((await other.says(/made for this run: +(\S+)/))[1]).not.toBe(key);
    expect((await (await running.listens()).call('GET', '/v1/pets', { key })).status).toBe(200);
  });

  test('prints lines of JSON without a key if keys are configured', async () => {
    const production = { API_KEYS: KEY, NODE_ENV: 'production', STORAGE: 'memory', REVISION: '0a1b2c3' };
    const running = startProcess(production);
    const { port } = await running.listens();
    expect(running.logged('listening')).toMatchObject([
      {
        url: `http://127.0.0.1:${port}/v1`,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        revision: '0a1b2c3',
      },
    ]);
    expect(running.logged(40)).toMatchObject([{ msg: expect.stringMatching(/^the animals are kept in memory/) }]);
    expect(running.output.out).not.toContain(KEY);
    expect(running.output.err).toBe('');
  });

  test.each([
    [{ PORT: 'x', LOG_LEVEL: 'loud' }, /^animal-store: PORT must be .*; LOG_LEVEL must be .*\n$/],
    [
      { STORAGE: 'sqlite', SQLITE_FILE: '/' },
      /^animal-store: SQLITE_FILE: \/ cannot be used: it must be a regular file\n$/,
    ],
    [
      { HOST: 'postgres://me:secret@host' },
      /^animal-store: can't listen at HOST a text of 25 characters, (?!.*secret).*\n$/,
    ],
    [{ STORAGE: 'mongodb', MONGODB_URL: 'mongodb://me:secret@host' }, /^animal-store: MONGODB_URL: (?!.*secret).*\n$/],
    [{ HOST: '203.0.113.1' }, /^animal-store: can't listen at HOST "203\.0\.113\.1", PORT 0: address not available\n$/],
  ] as [Record<string, string>, RegExp][])('ends with code 2 and one line for %o', async (environment, line) => {
    const running = startProcess(environment);
    expect(await running.exit).toBe(2);
    expect(running.output).toEqual({ out: '', err: expect.stringMatching(line) });
  });

  test('ends with code 2 and one line if the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const running = startProcess({ PORT: String(port) });
    expect(await running.exit).toBe(2);
    expect(running.output.err).toMatch(
      /^animal-store: can't listen at HOST "127.0.0.1", PORT \d+: address already in use\n$/,
    );
  });

  test.each([
    ['--version', 0, /^animal-store \d+\.\d+\.\d+ \(revision 0a1b2c3\)\n$/, /^$/],
    [
      '--help',
      0,
      /^Usage: animal-store .* {2}PORT \(3000\): an integer from 0 to 65535\n.* {2}MONGODB_URL, MONGODB_URL_FILE: like /s,
      /^$/,
    ],
    ['--port', 2, /^$/, /^animal-store: unexpected argument "--port": settings are environment variables\n$/],
  ])('ends before it listens with the argument %s', async (argument, code, out, err) => {
    const { exit, output } = startProcess({ REVISION: '0a1b2c3' }, { args: [argument] });
    expect(await exit).toBe(code);
    expect(output).toEqual({ out: expect.stringMatching(out), err: expect.stringMatching(err) });
  });

  test('accepts fewer connections than MAX_CONNECTIONS if ulimit -n is too low, and says so', async () => {
    const running = startProcess({ API_KEYS: KEY }, { openFiles: 600 });
    const { port } = await running.listens();
    const warning = 'ulimit -n is 600: only 100 connections, MAX_CONNECTIONS needs 10500';
    expect(running.logged(40).map(({ msg }) => msg)).toContain(warning);
    const [first] = Array.from({ length: 700 }, () => openSocket(port));
    first?.write(`GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await running.says(/there are as many as MAX_CONNECTIONS allows/);
    await expect.poll(() => first?.bytesRead).toBeGreaterThan(0);
  });

  test('ends with code 2 on a configuration error even if standard error cannot be written', async () => {
    const fd = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(fd));
    expect(await startProcess({ PORT: 'x' }, { stdio: ['ignore', 'ignore', fd] }).exit).toBe(2);
  });
});

/** Sends the process a signal as soon as it loads anything beside its first files. */
function signalOnLoading(signal: string): Record<string, string> {
  const program = `
    import { registerHooks } from 'node:module';
    let sent = false;
    registerHooks({
      load(url, context, next) {
        if (!sent && !/^node:|\\/(?:main|run-application|configuration-error)\\.ts$/.test(url)) sent = process.kill(process.pid, '${signal}');
        return next(url, context);
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

describe('a stop', () => {
  test('does not wait for a request whose client has gone', async () => {
    const running = startProcess({ API_KEYS: KEY, STOP_DEADLINE_SECONDS: '300' });
    const { port, call } = await running.listens();
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', connection: 'keep-alive' };
    const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', path: '/v1/pets', headers });
    request.on('error', () => {});
    request.write('{"name":"Rex",');
    expect((await call('GET', '/livez', { key: null })).status).toBe(200);
    running.process.kill('SIGTERM');
    await running.says(/"stopping"/);
    request.destroy();
    expect(await running.exit).toBe(0);
    expect(running.output.out).toMatch(/"connectionsClosed":0,.*"stopped"/);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'finishes requests in flight on %s, and ends with 0',
    async (signal) => {
      const running = startProcess({ API_KEYS: KEY });
      const { port, call } = await running.listens();
      // A request whose body is half sent is in flight.
      const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', connection: 'keep-alive' };
      const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', path: '/v1/pets', headers });
      const responded = once(request, 'response');
      request.write('{"name":"Rex",');
      // Its connection is accepted after that of the request in flight.
      expect((await call('GET', '/livez', { key: null })).status).toBe(200);
      running.process.kill(signal);
      // npm sends a copy of Ctrl-C.
      await setImmediate();
      running.process.kill(signal);
      await running.says(/"stopping"/);
      // A terminal that goes does not end the stop.
      running.process.kill('SIGHUP');
      request.end('"categoryId":1}');
      const [response] = await responded;
      response.resume();
      expect([response.statusCode, response.headers.connection]).toEqual([201, 'close']);
      expect(await running.exit).toBe(0);
      expect(running.output.out.match(/"stopping"/g)).toHaveLength(1);
      expect(running.output.err).toBe('');
      await expect(call('GET', '/livez', { key: null })).rejects.toThrow(/ECONNREFUSED/);
    },
  );

  test('loses no request that began before the signal or in the grace after it, and closes its connection', async () => {
    const running = startProcess({ API_KEYS: KEY, NODE_ENV: 'production', STORAGE: 'memory' });
    const { port, call } = await running.listens();
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const begin = () => {
      const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', path: '/v1/pets', headers, agent });
      request.write('{"name":"Rex",');
      return { request, responded: once(request, 'response') };
    };
    const before = Array.from({ length: 50 }, begin);
    expect((await call('GET', '/readyz', { key: null })).status).toBe(200);
    running.process.kill('SIGTERM');
    await running.says(/"stopping"/);
    expect((await call('GET', '/readyz', { key: null })).status).toBe(503);
    const after = Array.from({ length: 50 }, begin);
    expect((await call('GET', '/v1/pets')).status).toBe(200);
    for (const { request } of [...before, ...after]) request.end('"categoryId":1}');
    for (const { responded } of [...before, ...after]) {
      const [response] = await responded;
      response.resume();
      expect([response.statusCode, response.headers.connection]).toEqual([201, 'close']);
    }
    expect((await call('GET', '/v1/pets?limit=100')).json).toHaveLength(100);
    expect(await running.exit).toBe(0);
    expect(running.output.out).toMatch(/^(?=.*"msg":"stopped").*"connectionsClosed":0/m);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('is an end with 0 on %s while the service loads', async (signal) => {
    const running = startProcess({ API_KEYS: KEY, ...signalOnLoading(signal) });
    expect(await running.exit).toBe(0);
    expect(running.output).toEqual({ out: '', err: '' });
  });

  test.each<[NodeJS.Signals, NodeJS.Signals, pause?: number]>([
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
    ['SIGTERM', 'SIGTERM', 510],
    ['SIGHUP', 'SIGINT'],
  ])('ends at once on %s followed by %s', async (first, second, pause = 0) => {
    const running = startProcess({ API_KEYS: KEY, NODE_ENV: 'production', STORAGE: 'memory' });
    await running.listens();
    running.process.kill(first);
    await running.says(/"stopping"/);
    await sleep(pause);
    running.process.kill(second);
    expect([await running.exit, running.process.signalCode]).toEqual([null, second]);
  });

  test('ends with 0 at its deadline although a request is not complete', async () => {
    const running = startProcess({ API_KEYS: KEY, STOP_DEADLINE_SECONDS: '1' });
    const { port, call } = await running.listens();
    const socket = openSocket(port);
    const closed = once(socket, 'close');
    const fields = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n`;
    socket.write(`POST /v1/pets HTTP/1.1\r\n${fields}\r\n{`);
    // Its connection is accepted after that of the incomplete request.
    expect((await call('GET', '/livez')).status).toBe(200);
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.output.out).toMatch(/^(?=.*"msg":"stopped").*"connectionsClosed":1/m);
    await closed;
  });

  test('kills itself if the storage cannot be closed', async () => {
    const file = join(dirname(freshFile()), 'hanging.mjs');
    const port = 'new Proxy({}, { get: () => async () => [] })';
    const close = 'close: () => new Promise(() => setInterval(() => {}, 1_000))';
    const storage = `{ location: 'here', pets: ${port}, keys: ${port}, async ready() {}, ${close} }`;
    writeFileSync(file, `export const adapter = { portsVersion: 1, open: async () => (${storage}) };`);
    const running = startProcess({ API_KEYS: KEY, STORAGE: file, STOP_DEADLINE_SECONDS: '1' });
    await running.listens();
    running.process.kill('SIGTERM');
    expect([await running.exit, running.process.signalCode]).toEqual([null, 'SIGKILL']);
  });
});
