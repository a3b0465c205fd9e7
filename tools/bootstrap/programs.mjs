import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The path of a program that a workspace has installed. */
export const bin = (name, workspace = '.') => join(root, workspace, 'node_modules/.bin', name);

/**
 * The command line of pnpm, or of a program that finds pnpm in its PATH. npx downloads the pinned version once. It runs a
 * shell, which must become the program, because it would keep signals to itself.
 */
export function pnpm(...program) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const words = program.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return ['npx', '--yes', `--package=${packageManager}`, '--call', `exec ${words.join(' ')}`];
}

/**
 * The path of a Node.js that runs TypeScript, and whose SQLite keeps NUL characters: 24.16 or newer. Exits with one line if
 * there is none.
 */
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
function environment() {
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

const running = new Set();
let received = null;

// A terminal sends Ctrl-C to the programs, too. Other signals reach this process alone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    received = signal;
    if (running.size === 0) process.exit(exitCodeOf({ signal }));
    if (signal !== 'SIGINT') for (const child of running) child.kill(signal);
  });
}

/** Whether this process was told to stop. */
export const interrupted = () => received !== null;

/**
 * Runs a program to its end.
 *
 * @param env Variables beside those of developer tools.
 * @param capture Whether to collect its output, in order, instead of showing it.
 * @returns {Promise<{ code: number | null, signal: string | null, output: string }>}
 */
export function runProgram([command, ...args], { env = {}, capture = false } = {}) {
  return new Promise((resolve) => {
    const stdio = capture ? ['ignore', 'pipe', 'pipe'] : 'inherit';
    const child = spawn(command, args, { cwd: root, env: { ...environment(), ...env }, stdio });
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
