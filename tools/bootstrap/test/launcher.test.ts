import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const KEY = 'the-key-of-the-tests';

describe('npm start', () => {
  test.each<[string, (npm: Npm) => unknown, signals: RegExp]>([
    ['npm is killed', (npm) => process.kill(npm.pid, 'SIGKILL'), /SIGTERM/],
    ['npm and its launcher are killed', (npm) => process.kill(-npm.pid, 'SIGKILL'), /SIGHUP/],
    [
      'npm and its launcher are killed during a graceful stop',
      async (npm) => {
        process.kill(npm.pid, 'SIGTERM');
        await expect.poll(npm.output).toContain('"stopping"');
        process.kill(-npm.pid, 'SIGKILL');
      },
      /SIGHUP/,
    ],
    ['npm gets SIGTERM', (npm) => process.kill(npm.pid, 'SIGTERM'), /(SIGTERM.*){3}/],
    // A terminal sends it to npm and to the launcher, which gets a second copy from npm.
    ['Ctrl-C is pressed', pressCtrlC, /(SIGINT.*){4}/],
  ])('finishes the request in flight and frees the port if %s', async (_, stop, signals) => {
    const npm = await startService();
    const request = await beginRequest(npm.port);
    await stop(npm);
    await expect.poll(npm.output).toContain('"stopping"');
    await expect.poll(npm.signals).toMatch(signals);
    request.finish();
    expect(await request.status).toBe(201);
    await npm.ended;
    // An earlier connection would prolong the grace of the stop.
    expect(await isFree(npm.port)).toBe(true);
    const events = [...npm.output().matchAll(/"msg":"([a-z]+)"/g)].map(([, event]) => event);
    expect(events).toEqual(['listening', 'stopping', 'request', 'stopped']);
  });

  test('ends at once if Ctrl-C is pressed again', async () => {
    const npm = await startService();
    const request = await beginRequest(npm.port);
    process.kill(-npm.pid, 'SIGINT');
    await expect.poll(npm.output).toContain('"stopping"');
    // The launcher takes a signal for a copy of the one before it during 500 ms.
    await sleep(510);
    process.kill(-npm.pid, 'SIGINT');
    await expect(request.status).rejects.toThrow(/hang up|ECONNRESET/);
    await npm.ended;
    expect(npm.output()).not.toContain('"stopped"');
  });
});

/** Signals the launcher first: the system would join its signal with the copy from npm if both were pending (signal(7)). */
async function pressCtrlC(npm: Npm): Promise<void> {
  const [, launcher] = npm.signals().match(/(?<=pid:)\d+/g) ?? [];
  process.kill(Number(launcher), 'SIGINT');
  await expect.poll(npm.signals).toMatch(/SIGINT/);
  process.kill(npm.pid, 'SIGINT');
}

interface Npm {
  readonly pid: number;
  readonly port: number;
  /** The log of the service. */
  output(): string;
  /** The signals that npm, the launcher and the service have received. */
  signals(): string;
  /** Resolves when npm, the launcher and the service have ended. */
  readonly ended: Promise<unknown>;
}

/** Makes each Node.js process write its id and the signals that it receives to standard error. */
const REPORT = `--import=data:text/javascript,${encodeURIComponent(`
  process.stderr.write('pid:' + process.pid + ';');
  const { emit } = process;
  process.emit = function (event, ...rest) {
    if (/^SIG/.test(event)) process.stderr.write(event + ';');
    return emit.call(this, event, ...rest);
  };
`)}`;

/** Runs `npm start` as a shell does: in a process group of its own. */
async function startService(): Promise<Npm> {
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env: {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_OPTIONS: REPORT },
      ...{ PORT: '0', API_KEYS: KEY },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  let errors = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  // Each of the processes has inherited both pipes.
  const ended = once(npm, 'close');
  onTestFinished(async () => {
    for (const [, pid] of errors.matchAll(/pid:(\d+);/g)) killIfRunning(Number(pid));
    await ended;
  });
  await expect.poll(() => output, { timeout: 20_000 }).toContain('"listening"');
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(output) ?? [];
  return { pid: npm.pid as number, port: Number(port), output: () => output, signals: () => errors, ended };
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Sends a request without the end of its body; resolves when the service reads it. */
async function beginRequest(port: number): Promise<{ finish(): void; readonly status: Promise<number | undefined> }> {
  const body = '{"name":"Rex","categoryId":1}';
  const request = sendRequest({
    ...{ host: '127.0.0.1', port, method: 'POST', path: '/v1/pets', agent: false },
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  const status = new Promise<number | undefined>((resolve, reject) => {
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });
  status.catch(() => {});
  request.flushHeaders();
  await once(request, 'continue');
  request.write(body.slice(0, 10));
  return { finish: () => request.end(body.slice(10)), status };
}

/** Whether nothing accepts connections on the port. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(true));
    socket.on('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}
