import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The path of a program that a workspace has installed. */
export const bin = (name, workspace = '.') => join(root, workspace, 'node_modules/.bin', name);

/** The command line of pnpm, or of a program that finds pnpm in its PATH. npx downloads the pinned version once. */
export function pnpm(...program) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return ['npx', '--yes', `--package=${packageManager}`, '--', ...program];
}

/** The path of a Node.js that runs TypeScript, and whose SQLite keeps NUL characters: 24.16 or newer. Exits with one line if there is none. */
export function chooseNode() {
  // The installed one can't be started on Alpine, because it needs another C library.
  if (spawnSync(bin('node'), ['--version']).status === 0) return bin('node');
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 24 || (major === 24 && minor >= 16)) return process.execPath;
  console.error(
    `animal-store: Node.js 24.16 or newer is needed, this is ${process.version}. ` +
      `It is installed with the dependencies on Linux (x64, arm64), not on ${process.platform} ${process.arch}: ` +
      'install it, then run the same command again.',
  );
  process.exit(1);
}

/** The environment of developer tools: installed programs first in PATH, colors only on a terminal, no telemetry. */
export function environment() {
  const { env, stdout } = process;
  return {
    ...env,
    PATH: `${join(root, 'node_modules/.bin')}${delimiter}${env.PATH}`,
    ...(stdout.isTTY || env.FORCE_COLOR !== undefined ? {} : { NO_COLOR: '1' }),
    DO_NOT_TRACK: '1',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  };
}

/** The same signal within this time is the same event, in milliseconds. */
const SAME_SIGNAL = 500;

/** Time between two checks of the parent process, in milliseconds. */
const PARENT_CHECK = 250;

const running = new Set();
const lastReceived = new Map();

// A terminal sends Ctrl-C to every process of its foreground group, and npm forwards a second copy to this process.
// Programs run in a group of their own, so that they get each signal once. A later Ctrl-C is forwarded again.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    const now = performance.now();
    if (now - (lastReceived.get(signal) ?? Number.NEGATIVE_INFINITY) < SAME_SIGNAL) return;
    stopPrograms(signal);
  });
}

// npm forwards no signal if it is killed with SIGKILL: this process only gets another parent.
if (process.env.npm_lifecycle_event !== undefined) {
  const npm = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(check);
    if (!interrupted()) stopPrograms('SIGTERM');
  }, PARENT_CHECK);
  check.unref();
}

function stopPrograms(signal) {
  lastReceived.set(signal, performance.now());
  if (running.size === 0) process.exit(exitCodeOf({ signal }));
  for (const { pid } of running) {
    try {
      process.kill(-pid, signal);
    } catch {
      // The program has just ended.
    }
  }
}

/** Whether this process and the programs it runs were told to stop. */
export const interrupted = () => lastReceived.size > 0;

/**
 * Runs a program to its end.
 *
 * @param capture Whether to collect its output, in order, instead of showing it.
 * @param cwd Its working directory.
 * @param linked Whether the program gets an IPC channel, whose end tells it that this process is gone.
 * @returns {Promise<{ code: number | null, signal: string | null, output: string }>}
 */
export function runProgram([command, ...args], { env, cwd = root, capture = false, linked = false }) {
  return new Promise((resolve) => {
    const stdio = capture ? ['ignore', 'pipe', 'pipe'] : ['inherit', 'inherit', 'inherit'];
    if (linked) stdio.push('ipc');
    const child = spawn(command, args, { cwd, env, stdio, detached: true });
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
    if (child.pid !== undefined) running.add(child);
    const end = (code, signal) => {
      running.delete(child);
      resolve({ code, signal, output });
    };
    child.on('error', (error) => {
      output += `${error.message}\n`;
      if (!capture) console.error(error.message);
      end(127, null);
    });
    child.on('close', end);
  });
}

/** The exit code of a program; after a signal 128 and its number, as shells report it. */
export function exitCodeOf({ code, signal }) {
  return code ?? 128 + constants.signals[signal];
}
