import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const KEY = 'the-key-of-the-tests';

const { PATH = '', HOME } = process.env;

/** Prints what it was called with, and ends with 2. */
const APPLICATION = `
  const { cwd, argv, env } = process;
  console.log(JSON.stringify({ cwd: cwd(), args: argv.slice(2), cache: env.NODE_COMPILE_CACHE }));
  process.exitCode = 2;
`;

/** The ways to stop npm. */
const STOPS: readonly (readonly [string, (npm: number) => void])[] = [
  ['npm gets SIGTERM', (npm) => process.kill(npm, 'SIGTERM')],
  // A terminal sends it to npm and to the service, which gets a second copy from npm.
  ['Ctrl-C is pressed', (npm) => process.kill(-npm, 'SIGINT')],
];

/** A clone whose path has a space, with a package manager and applications of its own. */
function cloneWith({ pnpm, application = '' }: { pnpm: string; application?: string }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'animal store ')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: 0o755 });
  };
  cpSync(join(ROOT, 'tools/bootstrap'), join(root, 'tools/bootstrap'), { recursive: true });
  const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8');
  write('package.json', JSON.stringify({ ...JSON.parse(manifest), packageManager: join(root, 'pnpm') }));
  write('pnpm/package.json', '{ "name": "pnpm", "version": "1.0.0", "bin": "pnpm.sh" }');
  write('pnpm/pnpm.sh', `#!/bin/sh\n${pnpm}\n`);
  for (const name of ['http', 'cli']) write(`apps/${name}/src/main.ts`, application);
  mkdirSync(join(root, 'packages'));
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
  symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'));
  return { root, env: { PATH, HOME, npm_config_cache: join(root, 'cache') } };
}

describe('in a clone without dependencies', () => {
  function folderWith(...names: string[]): string {
    const root = mkdtempSync(join(tmpdir(), 'animal-store-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const name of names) cpSync(join(ROOT, name), join(root, name), { recursive: true });
    return root;
  }

  test.each(['npm install', 'npm install some-package'])('%s fails, and says in one line what to run', (command) => {
    const root = folderWith('package.json');
    const { status, stderr } = spawnSync('/bin/sh', ['-c', command], { cwd: root, encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/^npm error .*npm start and npm test install the dependencies$/m);
    expect(readdirSync(root)).toEqual(['package.json']);
  });

  test('npm start says in one line that the clone cannot be written', () => {
    const root = folderWith('package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'tools/bootstrap');
    for (const name of ['apps', 'packages']) mkdirSync(join(root, name));
    chmodSync(root, 0o555);
    // Root can write everywhere.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { status, stderr } = spawnSync('npm', ['start', '--silent'], { cwd: root, encoding: 'utf8', ...user });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^animal-store: the dependencies can't be installed: EACCES: permission denied, .*\n$/);
  });
});

describe('npm start and npm run cli', () => {
  test.each([['start'], ['cli']])('npm run %s keeps arguments, folder and exit code', (script) => {
    const { root, env } = cloneWith({ pnpm: '', application: APPLICATION });
    const folder = join(root, 'apps');
    const call = (environment = {}) =>
      spawnSync('npm', ['run', '--silent', script, '--', '--help', "it's a  dog"], {
        ...{ cwd: folder, env: { ...env, ...environment }, encoding: 'utf8' },
      });
    const { status, stdout, stderr } = call();
    expect(stderr).toBe('animal-store: installing dependencies… (first run, usually less than a minute)\n');
    expect(status).toBe(2);
    const args = ['--help', "it's a  dog"];
    expect(JSON.parse(stdout)).toEqual({ cwd: folder, args, cache: join(root, 'node_modules/.cache/node') });
    const again = call({ NODE_COMPILE_CACHE: root });
    expect(again.stderr).toBe('');
    expect(JSON.parse(again.stdout)).toEqual({ cwd: folder, args, cache: root });
  });

  test.each(STOPS)('end during the installation if %s', async (_, stop) => {
    const { root, env } = cloneWith({ pnpm: 'exec sleep 600' });
    const npm = start(root, env);
    await expect.poll(() => descendants(npm.pid).some(({ command }) => command.startsWith('sleep'))).toBe(true);
    stop(npm.pid);
    await npm.ended;
    expect(existsSync(join(root, 'node_modules/.animal-store-installed'))).toBe(false);
  });

  test.each(STOPS)(
    'leave npm and the service, which finishes the request in flight and frees its port if %s',
    async (_, stop) => {
      const npm = start(ROOT, { PATH, HOME, PORT: '0', API_KEYS: KEY });
      await expect.poll(npm.output).toContain('"listening"');
      expect(descendants(npm.pid)).toHaveLength(1);
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(npm.output())?.[1]);
      const finish = await beginRequest(port);
      stop(npm.pid);
      await expect.poll(npm.output).toContain('"stopping"');
      expect(await finish()).toMatch(/^HTTP\/1\.1 201 /);
      await npm.ended;
      // An earlier connection would prolong the grace of the stop.
      await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
      const events = [...npm.output().matchAll(/"msg":"([a-z]+)"/g)].map(([, event]) => event);
      expect(events).toEqual(['listening', 'stopping', 'request', 'stopped']);
    },
  );
});

/** The processes that a process has started, and those that they have started. */
function descendants(pid: number): { pid: number; command: string }[] {
  const lines = execFileSync('ps', ['-A', '-o', 'ppid=,pid=,args='], { encoding: 'utf8' }).trim().split('\n');
  const processes = lines.map((line) => {
    const [, parent, child, command = ''] = /^ *(\d+) +(\d+) +(.*)$/.exec(line) ?? [];
    return { parent: Number(parent), pid: Number(child), command };
  });
  const children = (of: number): typeof processes =>
    processes.filter(({ parent }) => parent === of).flatMap((child) => [child, ...children(child.pid)]);
  return children(pid);
}

/** Runs `npm start` as a shell does: in a process group of its own. */
function start(cwd: string, env: NodeJS.ProcessEnv) {
  const npm = spawn('npm', ['start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const pid = npm.pid as number;
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  let isRunning = true;
  // All processes have inherited the pipe.
  const ended = once(npm, 'close').then(() => {
    isRunning = false;
  });
  onTestFinished(() => {
    if (isRunning) process.kill(-pid, 'SIGKILL');
  });
  return { pid, output: () => output, ended };
}

/** Sends a request without the end of its body; resolves when the service reads it. The result sends the end. */
async function beginRequest(port: number): Promise<() => Promise<string>> {
  const body = '{"name":"Rex","categoryId":1}';
  const fields = {
    host: '127.0.0.1',
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'content-length': body.length,
    expect: '100-continue',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST /v1/pets HTTP/1.1\r\n${lines.join('')}\r\n`);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /);
  socket.write(body.slice(0, 10));
  return async function finish() {
    socket.write(body.slice(10));
    return String(await once(socket, 'data'));
  };
}
