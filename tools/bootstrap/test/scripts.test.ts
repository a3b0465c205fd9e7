import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { freshFolder } from '@animal-store/test-kit/fresh-folder';
import { ROOT } from '@animal-store/test-kit/programs';
import { KEY } from '@animal-store/test-kit/service';
import { describe, expect, onTestFinished, test } from 'vitest';

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
  const root = join(realpathSync(freshFolder()), 'animal store');
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
    const root = freshFolder();
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

test.each([
  'packages/domain/no.test.ts',
  'packages/domain/src/pets/pet.test.ts -t no-title',
  'packages/domain/src/pets/pet.test.ts --testNamePattern=no-title',
])('npm test fails, and says in its last line that no test matches %s', (selection) => {
  const args = ['test', '--silent', '--', ...selection.split(' ')];
  const { status, stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout.trim().split('\n').at(-1)).toBe(`no test ran that matches ${selection}`);
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
    await expect.poll(() => commandsIn(npm.pid)).toContain('sleep 600');
    stop(npm.pid);
    await npm.ended;
    expect(existsSync(join(root, 'node_modules/.animal-store-installed'))).toBe(false);
  });

  test.each(STOPS)(
    'leave npm and the service, which finishes the request in flight and frees its port if %s',
    async (_, stop) => {
      const npm = start(ROOT, { PATH, HOME, PORT: '0', API_KEYS: KEY });
      await expect.poll(npm.output).toContain('"listening"');
      expect(commandsIn(npm.pid)).toEqual([expect.stringContaining('npm'), expect.stringContaining('/main.ts')]);
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(npm.output())?.[1]);
      const fields = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', expect: '100-continue' };
      const creation = request({ port, path: '/v1/pets', method: 'POST', headers: fields });
      await once(creation, 'continue');
      stop(npm.pid);
      await expect.poll(npm.output).toContain('"stopping"');
      const [response] = await once(creation.end('{"name":"Rex","categoryId":1}'), 'response');
      expect(response.resume().statusCode).toBe(201);
      await npm.ended;
      // An earlier connection would prolong the grace of the stop.
      await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
      const events = [...npm.output().matchAll(/"msg":"([a-z]+)"/g)].map(([, event]) => event);
      expect(events).toEqual(['listening', 'stopping', 'request', 'stopped']);
    },
  );
});

/** The commands of the processes in a group. */
function commandsIn(group: number): string[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pgid=,args='], { encoding: 'utf8' }).matchAll(/^ *(\d+) +(.*)$/gm);
  return [...lines].flatMap(([, id, command = '']) => (Number(id) === group ? [command] : []));
}

/** Runs `npm start` as a shell does: in a process group of its own. */
function start(cwd: string, env: NodeJS.ProcessEnv) {
  const npm = spawn('npm', ['start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const pid = npm.pid as number;
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  // All processes have inherited the pipe.
  const ended = once(npm, 'close');
  onTestFinished(() => void (npm.stdout.closed || process.kill(-pid, 'SIGKILL')));
  return { pid, output: () => output, ended };
}
